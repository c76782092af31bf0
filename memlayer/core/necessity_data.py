"""Words by their necessity in tenths, written by models/words/make_necessity.py; others count whole."""

from __future__ import annotations

TENTHS = {
    1: """
against awai databas dure far follow goe happen identifier long look lose made mani more much onc receiv singl
someon twice vs 개였 나서 나왔 데 돈 두지 둔 디야 마야 많 며칠 몇개 몇번 몇시 몇으 몇이 몇초 뭐더 뭐라 뭐무 뭐뭐
뭘로 볼 뺀 사고 수는 시점 쓴 않 않는 않은 언제 얼마 옛날 오던 이리 이유 있더 잡았 제로 제야 퍼센 하더 해결 현재 후
""",
    2: """
abandon across ahead appear automaticalli bad behind between carri ceil chip come complet doubl down earli everi
exist fresh get got hardwar insid lack learn librari longer method not often oldest piec present probe problem
processor quickli safe same scheme see separat several stai storag thing three tolerat went work 가능 가던 가장 개야
개지 거였 걸로 걸어 것들 결국 경우 고른 군데 그랬 긋난 까닭 꺼번 끊어 끝내 나오 나와 날이 내용 넣 넣은 는거 니면
다고 달에 대상 대신 대응 도는 도입 돌지 동작 됐더 되더 되어 된다 뒤에 드시 들고 들리 디지 때문 뜨 뜨는 뜨던 라서
러내 막는 많이 말고 메 메가 몇분 몇프 문제 물건 뭐로 뭐야 받 받는 방법 방식 버렸 버린 번까 번이 봐주 부분 붙인 빠르
생겼 생긴 성능 센트 손해 쉬는 식으 썼더 아내 아닌 아야 알아 얘기 어갈 어노 어놨 어디 어보 어야 여 여서 오 올라 왜였
원인 이고 이던 있게 있다 있었 자주 작성 적화 전부 제지 죽 죽으 죽은 줘야 지야 지지 짜리 쪽에 쳐야 초까 초야 최적
치고 칠치 케이 틀어 풀어 풀었 프 한꺼 해노 해놨 해달 허락
""",
    3: """
acceptabl after alon alreadi alternativ annotation another availabiliti backend becom befor behaviour both bring
built-in buyer capaciti caus compiler consider convention credential current documentation each exactli exempt extra
fast faster fetch few find finish five flash floor fraction frequenci ground guess hard hear heavi held high huge
hundr infrastructur initial interpreter java kick most never new newcomer newer nobodi nowadai off physicalli place
prefer produc proof protect put quiet rather reach readi refus rid setup short shut softwar some somebodi soon spin
spreadsheet still suggestion suit syntax taken themselv thrown timer trail tri unstabl 가까 가면 가지 각각 간 감지
값들 개선 거치 건데 것은 계기 고 고를 고쳤 골라 골랐 곳이 괜찮 구지 기계 기면 깔아 꺼져 나간 나게 나던 나온 났던 낮
낮췄 내게 너스 넘겨 넣고 넣는 높 높은 눌러 늘린 달라 대비 데가 돌던 됐던 되게 되기 두개 두는 둬 들여 디까 뜨게 뜨지
라던 라오 라진 램 려가 려주 로스 론트 르지 리게 리던 리말 막 막았 막은 막혔 막힌 만든 말라 말투 망 맞던 맨 먹 못하
못한 물어 뭐만 밀렸 밖으 반드 받던 받지 방지 백엔 버려 버벅 범인 별 별도 병렬 보는 보조 보지 봐줘 붙 비슷 빈 빨리
뺐더 사 상담 생기 손 수준 쉬 시스 쓰려 쓸 아니 아두 아무 아서 아예 아졌 아주 아지 안되 안하 않기 양 어가 어두 어봐
어오 어있 여는 여러 여야 연습 열 열린 옛 오래 온 올려 우리 으리 인가 인원 일주 있대 있댔 자꾸 잖아 잡 장되 전용 제일
종류 주게 주일 주지 줄까 줄여 줄이 중 중에 줬더 지고 지어 짠 쪽 쳐 켜져 켜지 터졌 터지 터진 튀던 특정 포기 표기 풀려
프론 피하 필수 한달 한번 했는 했잖 현상 후에 훈련 휴대
""",
    4: """
around back blind box brand choic contain depend discrepanci drive figur fine fire frequentli give go-live gone hand
handheld handl improv instead instruction larg lesson live low machin mandatori measurement mid mistak monei need
network notic offer one other out outsider pattern penalti periodic prioriti quick readabl recognis reduc repeat
reveal revisit shrink side simulat sinc sit slow smaller stori style surviv system tap third-party thousand through
together treat trigger two up visitor way wide within worst write-up 가는 가야 갈아 값으 개는 개수 결책 고친 곳 과거
구성 구형 그때 근거 기게 기던 기술 뀌지 끊기 끝 나가 나중 날 남던 남아 남의 낮은 내면 내야 넘어 넣기 넣어 넣었 느렸
늘릴 늦추 다루 당자 대용 대체 대폰 돈이 돌더 동안 됐었 두기 두리 둘 들어 디고 디다 디어 떠 라져 려지 료구 뤄지 리되
마라 마존 말 말을 맞 매기 먹는 멀티 명까 몇명 몇퍼 모양 무거 묶어 미룬 민감 밀어 바깥 바로 받아 받을 버리 보 보장
붙는 새로 스템 시범 시일 써 써야 쓰던 아끼 아마 아오 아직 안쓰 애 어긋 어리 어올 어져 업체 여쓰 연구 오는 오지 올랐
요구 요즘 용량 울려 움직 워야 웹 유출 음표 이치 이폰 작일 잠기 잡는 잡혀 저절 적어 전달 절약 점 정리 정했 조건 종적
좋아 주기 주나 주는 줄어 지던 쪼개 쪽이 차원 쳐도 취급 칩 커진 터야 판단 폰 핑 해도 해주 흔들
""",
    5: """
allow any apart avoid browser bypass came compani control cover cross daemon description encoder end enforc entri
fit front gain go hold interfac iphone jump land later layer lifetim lift make maximum measur non offic old own part
performanc pick prevent previou program progress pull ratio real removal repositori requir requirement right settl
shown site slip spend spread strip third todai turn 가기 가로 값 값은 값을 값이 개나 개로 건이 걸러 겹치 고르 고치
구분 구조 긋나 긴 꺼지 나눈 나눴 남겨 남겼 넘기 넣으 넣지 느린 늘렸 늦게 다려 달 던거 도구 도착 되던 때는 띄우 라가
라졌 라지 러리 려갔 마지 막으 막혀 막히 맞추 미터 바꾼 받기 받으 번에 번째 분이 붙여 붙였 브러 빠져 사건 사라 사람
새 수가 수단 수집 신호 썼지 쓰더 쓰지 않게 애플 어간 어온 어지 엔드 오면 옵션 완성 원래 이저 일이 읽는 자체 잡히 전
전히 정도 정상 정하 제까 주범 줄 줄인 중인 지게 지켜 직후 쪽은 찍히 찾기 처리 총 측정 키가 키를 탈락 터넷 토콜 통신
통째 통합 하리 해야 해지 홈
""",
    6: """
abov all answer big choos cleanup dai defin disabl document els fall good guarante guard hide hit hous interval
iphon isolat level light lookup monthli near object older parti past pay peopl person plot pre preferenc quota
reason revision rider runtim scanner serv silenc size stop threshold told tool top under weekdai 가려 개까 걸린 겨두
그대 그램 그만 글은 기준 뀌던 뀌어 끊김 내려 내지 네트 누구 느리 니라 다른 달아 답 대로 대화 돌아 뒤 따 따로 때마
려서 려야 르게 르던 리즘 맞는 맞춰 모르 바꿔 바닥 밸런 범위 보이 붙어 빨라 살아 섞이 쌓이 쓰 쓰기 쓰는 아가 알고
약점 어나 없 없이 에스 에이 여유 오게 올릴 우면 위 일부 일정 자료 잘못 장치 재사 재생 적 적재 정식 죽던 줄였 중간
지나 지면 지역 지키 직접 차단 찾아 채우 처음 쳐서 초당 초지 취약 크로 텍스 트워 티브 표준 플랫 하나 항목 회사 효과
""",
    7: """
affect agreement air announc argument assistant attach backoff balancer bill board broke comparison condition
contact correct cs cutoff detail detect developer di different digit directori distribut duration emb engin enough
env environment eras factor gate grow half helper hole hourli identical in-house incompatibl increment kind lead
leftover length lower manag marker master metadata moment motion mount on onboard onlin outdat pai park pc per
permit plain plant platform preserv prompt properti public purchas random resolution resum reviewer self shift
simulation slowdown slower small speed standard station subject suppli term toggl tone tracker travel trim tune unus
vendor walk wheel win wipe workflow wrong zero 가드 갈리 갑자 개가 개를 거르 걸려 것만 것을 겨져 계속 고쳐 고칠 공격
공용 교체 구간 글 기가 기시 기체 깨짐 꾸리 끊긴 끝나 나면 남 남는 넘 니저 답이 당기 대량 더블 더해 도로 동완 되살 두
두면 드리 디렉 따라 띄워 락처 래스 랫폼 러닝 려진 렬화 로우 료일 리고 리면 마케 매달 머신 먹었 멈췄 메이 명령 모아
묶는 문의 미뤄 밀린 바뀐 받은 발표 배열 버티 번 보호 본값 부서 분까 분석 브이 빠졌 빠진 빼 뺐지 뽑아 살려 서류 소프
실수 써서 쓰게 쓰라 쓰리 쓴다 아보 아타 않고 알려 앞에 앱이 어내 어뒀 없을 여부 영향 올렸 완전 외국 우기 우지 우회
워지 유료 은데 이게 이관 이름 이면 이브 이중 이크 이티 이후 인프 있 있을 자기 잘라 잡아 잡은 잡을 잡혔 장비 전산
절반 정값 정밀 제공 제외 져서 조치 좌표 주 주면 준값 지 지운 지워 지점 집 짧게 찍 차 찾는 초마 최근 최종 추면 층
치기 캡처 케팅 켜 켜두 크기 큰 클래 트야 틀리 판별 퍼 평소 폭증 폼 품질 하드 하위 하한 할때 해상 허용 헷갈 형태 횟수
히던
""",
    8: """
accept bump cdn cloud container content cost counter courier dead decision decod endpoint first fix framework free
full generat generator identiti incident includ kei kept late legaci manual morn night no outsid over pair phone
pilot protocol provider rang read reject score second set share ship shorten signal step task tester touch traffic
trial valu variant version 가게 가리 개씩 건수 걸리 걸었 게임 고리 기존 끄 끄는 나누 남았 남은 내리 늘었 다리 드레
똑같 라미 로토 르면 리지 막아 맥 물리 바꿨 바이 보기 분리 붙이 비율 빠지 서로 선택 수정 수치 스타 스턴 시키 실제
아있 아침 안에 어주 어진 없앴 에디 에프 여주 연락 열어 올린 인기 인터 읽 읽어 있으 작 절차 정의 정한 정해 조각 조사
조작 준비 줄었 청소 초로 추가 치면 통일 판매 퓨터 하다 현장 형식 후보
""",
    9: """
ad appli ask binari class clear combin command comput count deadlin delai drift edg empti encod expos external fill
flush format grid help kill last left login material option parallel pictur pipelin post precision purpos remain
return scan shape show speech stuck take talk temporari trip unit until valid 걸렸 규칙 기간 길게 나눠 높이 느려
늘어 담당 돌려 들지 디터 려받 리리 만드 맵 메뉴 묶 바뀌 본문 블로 빼기 사이 소수 속도 수량 숨기 써도 쓰고 쓰나 쓰면
앞 어서 오류 외부 이너 이동 이력 이상 일 작은 장까 정보 정적 제출 직원 추던 켜는 켜면 트레 패킷 표시 풀 프로
""",
}
