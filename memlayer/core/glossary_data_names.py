"""Glossary rows: names that Korean writes in its own letters. Languages, tools, services, companies, places."""

from __future__ import annotations

ROWS = """
파이썬 | python
자바 | java
자바스크립트 | javascript, js
타입스크립트 | typescript, ts
코틀린 | kotlin
스위프트 | swift
러스트 | rust
고랭, 고언어 | golang
루비 | ruby
루비온레일즈, 레일즈 | rails, ruby on rails
스칼라 | scala
엘릭서 | elixir
하스켈 | haskell
클로저스크립트 | clojurescript
펄 | perl
루아 | lua
다트 | dart
줄리아 | julia
어셈블리, 어셈블러 | assembly, assembler
웹어셈블리 | webassembly, wasm
에이치티엠엘 | html
씨에스에스 | css
마크다운 | markdown
야믈 | yaml
엑스엠엘 | xml
에스큐엘 | sql
리액트 | react
리액트 네이티브 | react native
뷰제이에스 | vue, vuejs
앵귤러 | angular
스벨트 | svelte
넥스트제이에스 | nextjs
노드제이에스 | nodejs
익스프레스 | express
네스트제이에스 | nestjs
제이쿼리 | jquery
테일윈드 | tailwind
부트스트랩 | bootstrap
리덕스 | redux
웹팩 | webpack
비트 번들러, 바이트 번들러 | vite
스토리북 | storybook
플러터 | flutter
안드로이드 | android
아이폰 | iphone
아이패드 | ipad
아이오에스 | ios
맥북 | macbook
맥오에스 | macos
윈도우, 윈도우즈, 윈도 | windows, window
리눅스 | linux
우분투 | ubuntu
데비안 | debian
레드햇 | redhat, red hat
알파인 | alpine
유닉스 | unix
장고 | django
플라스크 | flask
패스트에이피아이 | fastapi
스프링 | spring
스프링부트, 스프링 부트 | spring boot
하이버네이트 | hibernate
그레이들 | gradle
메이븐 | maven
라라벨 | laravel
워드프레스 | wordpress
판다스 | pandas
넘파이 | numpy
파이토치 | pytorch
텐서플로, 텐서플로우 | tensorflow
케라스 | keras
사이킷런 | scikit-learn, sklearn
허깅페이스 | hugging face, huggingface
주피터, 쥬피터 | jupyter
아나콘다, 콘다 | anaconda, conda
셀러리 | celery
에어플로, 에어플로우 | airflow
스파크 | spark
하둡 | hadoop
카프카 | kafka
래빗엠큐 | rabbitmq
레디스 | redis
멤캐시드 | memcached
포스트그레스, 포스트그레 | postgres, postgresql, pg
포스트그레스큐엘 | postgresql, postgres
마이에스큐엘 | mysql
마리아디비 | mariadb
오라클 | oracle
몽고디비, 몽고 | mongodb, mongo
카산드라 | cassandra
다이나모디비, 다이나모 | dynamodb
에스큐라이트, 에스큐엘라이트 | sqlite
클릭하우스 | clickhouse
빅쿼리 | bigquery
스노우플레이크, 스노플레이크 | snowflake
레드시프트 | redshift
덕디비 | duckdb
엘라스틱서치, 일래스틱서치, 엘라스틱 | elasticsearch, elastic
오픈서치 | opensearch
키바나 | kibana
로그스태시 | logstash
그라파나 | grafana
프로메테우스 | prometheus
데이터독 | datadog
센트리 | sentry
뉴렐릭 | new relic, newrelic
스플렁크 | splunk
오픈텔레메트리 | opentelemetry
도커 | docker
도커 컴포즈 | docker compose
도커파일 | dockerfile
쿠버네티스, 쿠베 | kubernetes, k8s
헬름 | helm
테라폼 | terraform
앤서블 | ansible
젠킨스 | jenkins
깃허브, 깃헙 | github
깃허브 액션, 깃허브 액션스 | github actions, github action
깃랩 | gitlab
비트버킷 | bitbucket
깃 | git
서클씨아이 | circleci
아르고, 아르고시디 | argo, argocd
엔진엑스 | nginx
아파치 | apache
톰캣 | tomcat
볼트 | vault
컨설 | consul
아마존 | amazon
아마존 웹서비스, 에이더블유에스 | aws, amazon web services
에스쓰리 | s3
애저 | azure
구글 | google
구글 클라우드 | gcp, google cloud
구글 드라이브 | google drive
구글 시트, 구글 스프레드시트 | google sheets, google sheet
구글 지도, 구글맵 | google maps
파이어베이스 | firebase
수파베이스 | supabase
버셀, 베르셀 | vercel
네틀리파이 | netlify
헤로쿠 | heroku
클라우드플레어 | cloudflare
클라우드프론트 | cloudfront
디지털오션 | digitalocean
스트라이프 | stripe
페이팔 | paypal
토스 | toss
토스페이먼츠 | toss payments, tosspayments
카카오 | kakao
카카오톡, 카톡 | kakaotalk
카카오페이 | kakaopay
네이버 | naver
네이버페이 | naverpay, naver pay
쿠팡 | coupang
배달의민족, 배민 | baemin
당근마켓 | daangn, karrot
라인 | line
페이스북 | facebook
메타 | meta
인스타그램, 인스타 | instagram
유튜브 | youtube
트위터 | twitter
틱톡 | tiktok
링크드인 | linkedin
텔레그램 | telegram
디스코드 | discord
슬랙 | slack
노션 | notion
옵시디언 | obsidian
지라 | jira
컨플루언스 | confluence
트렐로 | trello
아사나 | asana
리니어 | linear
피그마 | figma
포토샵 | photoshop
일러스트레이터 | illustrator
스케치업 | sketchup
블렌더 | blender
유니티 | unity
언리얼 | unreal
고도 엔진 | godot
스팀 | steam
엑셀 | excel
스프레드시트 | spreadsheet
파워포인트 | powerpoint
워드 | word
줌 | zoom
마이크로소프트 | microsoft
애플 | apple
엔비디아 | nvidia
인텔 | intel
삼성 | samsung
테슬라 | tesla
넷플릭스 | netflix
스포티파이 | spotify
오픈에이아이 | openai
챗지피티 | chatgpt
지피티 | gpt
클로드 | claude
앤트로픽 | anthropic
제미나이 | gemini
라마 | llama
미스트랄 | mistral
올라마 | ollama
랭체인 | langchain
위스퍼 | whisper
코파일럿 | copilot
브이에스코드 | vscode, vs code
인텔리제이 | intellij
파이참 | pycharm
이클립스 | eclipse
엑스코드 | xcode
빔 | vim
이맥스 | emacs
포스트맨 | postman
스웨거 | swagger
그래프큐엘 | graphql
지알피씨 | grpc
레스트 | rest
에이피아이 | api
프로토버프, 프로토콜 버퍼 | protobuf, protocol buffers
제이유닛 | junit
파이테스트 | pytest
제스트 | jest
사이프레스 | cypress
셀레늄, 셀레니움 | selenium
플레이라이트 | playwright
퍼펫티어 | puppeteer
이에스린트 | eslint
프리티어 | prettier
바벨 | babel
크롬 | chrome
크로미움 | chromium
파이어폭스 | firefox
사파리 | safari
엣지 | edge
일렉트론 | electron
타우리 | tauri
라즈베리파이, 라즈베리 파이 | raspberry pi
아두이노 | arduino
블루투스 | bluetooth
지그비 | zigbee
디엔에스 | dns
브이피엔 | vpn
에스에스에이치 | ssh
에이치티티피 | http
에스에스엘 | ssl
티엘에스 | tls
티씨피 | tcp
엠큐티티 | mqtt
시디엔, 씨디엔 | cdn
지피유 | gpu
시피유, 씨피유 | cpu
유에스비 | usb
큐알코드, 큐알 | qr code, qr
피디에프 | pdf
한국, 대한민국 | korea
서울 | seoul
부산 | busan
제주, 제주도 | jeju
일본 | japan
도쿄, 동경 | tokyo
오사카 | osaka
중국 | china
베이징, 북경 | beijing
미국 | usa, united states, america
뉴욕 | new york
영국 | uk, united kingdom, britain, england
런던 | london
독일 | germany
베를린 | berlin
프랑스 | france
파리 | paris
유럽 | europe
싱가포르 | singapore
베트남 | vietnam
태국 | thailand
인도 | india
호주 | australia
캐나다 | canada
한국어, 한글 | korean, hangul
영어, 영문 | english
일본어, 일어 | japanese
중국어 | chinese
독일어 | german
프랑스어, 불어 | french
스페인어 | spanish
"""
