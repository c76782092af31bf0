"""Glossary rows: screens. Pages, widgets, layout, looks, languages."""

from __future__ import annotations

ROWS = """
화면 | screen, view
첫 화면, 홈 화면 | home screen, landing page
페이지 | page
프론트엔드, 프런트엔드, 프론트 | frontend, front end
백엔드 | backend, back end
풀스택 | full stack, fullstack
컴포넌트 | component
위젯 | widget
버튼, 단추 | button
입력창, 텍스트박스 | input box, text box, textbox
체크박스 | checkbox
라디오 버튼 | radio button
드롭다운 | dropdown
메뉴 | menu
탭 | tab
모달, 팝업 | modal, popup, dialog
대화상자, 다이얼로그 | dialog
툴팁 | tooltip
토스트 | toast
사이드바 | sidebar
내비게이션, 네비게이션 | navigation
아이콘 | icon
로고 | logo
배너 | banner
썸네일, 섬네일 | thumbnail
레이아웃 | layout
그리드 | grid
여백, 마진 | margin
패딩 | padding
테두리, 보더 | border
배경 | background
글꼴, 폰트, 서체 | font, typeface
색상, 색깔, 컬러, 색 | color, colour
테마 | theme
다크모드, 다크 모드, 어두운 테마 | dark mode, dark theme
라이트 모드 | light mode, light theme
스타일 | style
스타일시트 | stylesheet
반응형 | responsive
애니메이션 | animation, animate
스크롤 | scroll
무한 스크롤 | infinite scroll
드래그 | drag
클릭 | click
더블클릭 | double click
호버 | hover
포커스 | focus
접근성 | accessibility, a11y
단축키 | shortcut, hotkey
키보드 | keyboard
마우스 | mouse
다국어, 국제화 | i18n, internationalization, multilingual
현지화, 지역화 | localization, l10n
번역 | translation, translate
로케일 | locale
시간대, 타임존 | timezone, time zone
서버 사이드 렌더링 | server-side rendering, ssr
하이드레이션 | hydration, hydrate
채널 | channel
스크린샷, 화면 캡처, 캡처 | screenshot, screen capture
전체 화면, 전체화면 | full screen, fullscreen
창 | window
검색창 | search box, search bar
진행률, 진행 표시줄 | progress bar, progress
로딩 | loading
스피너 | spinner
카드뷰 | card view
슬라이더 | slider
캐러셀 | carousel
아코디언 | accordion
달력 위젯 | date picker
툴바, 도구 모음 | toolbar
상태 표시줄, 상태바 | status bar
탐색기 | explorer
클립보드 | clipboard
터치 | touch
제스처 | gesture
키패드 | keypad
이모지, 이모티콘 | emoji, emoticon
배지, 뱃지 | badge
아바타 | avatar
문구, 카피 | copy, wording, text
안내 문구, 안내문 | notice, guide text, message
줄 간격, 행간 | line height, line spacing
줄 길이 | line length
굵게, 굵은 | bold
기울임, 이탤릭 | italic
밑줄 | underline
취소선 | strikethrough
정렬하다 | align, sort
가운데 정렬 | center align, centered
들쭉날쭉 | jagged, uneven
깜빡이다, 깜빡임, 깜박임 | flicker, blink
어긋나다 | misaligned, out of sync
뷰포트 | viewport
돔 | dom
선택자, 셀렉터 | selector
디자인 시스템 | design system
와이어프레임 | wireframe
목업 | mockup
시안 | draft design, mockup
프로토타입, 시제품 | prototype
사용성 | usability
사용자 경험 | user experience, ux
사용자 인터페이스, 유아이 | user interface, ui
"""
