"""Glossary rows: everyday things. Colours, school, health, travel, food, home, people, and further words."""

from __future__ import annotations

ROWS = """
빨강, 빨간색, 빨간, 붉은 | red
주황, 주황색 | orange
노랑, 노란색, 노란 | yellow
초록, 초록색, 녹색 | green
파랑, 파란색, 파란, 푸른 | blue
남색 | navy
보라, 보라색 | purple, violet
분홍, 분홍색, 핑크 | pink
검정, 검은색, 검정색, 까만 | black
하양, 흰색, 하얀, 하얀색 | white
회색 | gray, grey
갈색 | brown
은색 | silver
금색 | gold, golden
왼쪽, 좌측 | left
오른쪽, 우측 | right
위쪽, 상단 | top, upper
아래쪽, 하단 | bottom, lower
가운데, 중앙, 중간 | center, centre, middle
가로 | horizontal, width
세로 | vertical, height
너비, 폭 | width
높이 | height
길이 | length
두께 | thickness
무게, 체중 | weight
부피 | volume
면적, 넓이 | area
깊이 | depth
모서리 | corner, edge
대각선 | diagonal
원형 | circle, circular, round
사각형 | rectangle, square
삼각형 | triangle
학교 | school
대학교, 대학 | university, college
대학원 | graduate school
학생 | student
교사, 선생님 | teacher
교수, 교수님 | professor
수업, 강의 | class, lecture, course
강좌 | course
교실 | classroom
학기 | semester, term
방학 | vacation, school break
출석 | attendance
채점 | grade, grading
성적 | grade, score
학점 | credit, gpa
시험지 | exam paper
기말고사, 기말 | final exam, finals
중간고사 | midterm
퀴즈 | quiz
제출 | submit, submission
제출일 | due date, submission date
교재, 교과서 | textbook
논문 | paper, thesis
졸업 | graduate, graduation
수학 | math, mathematics
과학 | science
역사 | history
통계 | statistics, stats
확률 | probability
행렬 | matrix
방정식 | equation
건강 | health
병원 | hospital, clinic
의사 | doctor, physician
간호사 | nurse
환자 | patient
진료 | medical treatment, consultation
진단 | diagnosis, diagnose
처방, 처방전 | prescription, prescribe
약국 | pharmacy
복용 | dosage, dose, take medicine
알레르기, 알러지 | allergy, allergic
혈압 | blood pressure
혈당 | blood sugar, glucose
심박수, 심박 | heart rate
체온 | body temperature
수면 | sleep
운동 | exercise, workout
달리기, 러닝 | running, run
헬스장 | gym
걸음, 걸음 수 | step, steps
칼로리 | calorie
식단 | diet, meal plan
다이어트 | diet
단백질 | protein
통증 | pain
보험 | insurance
여행 | travel, trip
여행지 | destination
여권 | passport
비자 | visa
항공권, 비행기표 | flight ticket, airfare
비행기, 항공편 | flight, plane, airplane
공항 | airport
호텔 | hotel
숙소, 숙박 | accommodation, lodging
체크인 | check-in
기차, 열차 | train
지하철 | subway, metro
버스 | bus
택시 | taxi, cab
자동차, 승용차 | car
자전거 | bicycle, bike
주차, 주차장 | parking
운전 | drive, driving
관광 | tourism, sightseeing
날씨 | weather
일기예보 | weather forecast
강수량 | rainfall, precipitation
바람 | wind
태풍 | typhoon
바다 | sea, ocean
산책 | walk
음식 | food
음식점, 식당 | restaurant
요리, 조리 | cook, cooking
조리법, 레시피 | recipe
재료 | ingredient, material
커피 | coffee
아침식사, 아침 식사 | breakfast
점심시간 | lunch time, lunch break
저녁식사, 저녁 식사 | dinner, supper
과일 | fruit
채소, 야채 | vegetable
고기 | meat
채식 | vegetarian, vegan
우유 | milk
냉장고 | refrigerator, fridge
집 | home, house
아파트 | apartment
부동산 | real estate
월세, 임대료 | rent
전세 | lease, jeonse
이사 | moving, relocation
청소 | clean, cleaning, cleanup
빨래, 세탁 | laundry
가구 | furniture
정원, 텃밭 | garden
가족 | family
부모님, 부모 | parents
아버지, 아빠 | father, dad
어머니, 엄마 | mother, mom
아들 | son
아내, 부인 | wife
남편 | husband
아기 | baby
아이, 어린이 | child, kid
동생 | younger brother, younger sister, sibling
강아지 | dog, puppy
고양이 | cat
반려동물, 애완동물 | pet
생일 | birthday
결혼 | wedding, marriage, marry
기념일 | anniversary
선물 | gift, present
취미 | hobby
독서 | reading
책, 도서 | book
도서관 | library
소설 | novel, fiction
일기, 다이어리 | diary, journal
일지 | journal, log
습관 | habit
명상 | meditation
기분, 감정 | mood, emotion, feeling
달력, 캘린더 | calendar
시계 | clock, watch
스포츠 | sports, sport
축구 | soccer, football
야구 | baseball
농구 | basketball
경기 | match, game
선수 | player, athlete
콘서트, 공연 | concert, performance
피아노 | piano
기타 | guitar, other, miscellaneous, misc
악보 | sheet music, score
주식 | stock
투자 | invest, investment
연금 | pension
저축 | saving, savings
가계부 | household budget, household ledger, expense tracker
급여, 월급, 연봉 | salary, payroll, wage
퇴직금 | severance
조건부 | conditional
동작 | behavior, behaviour, operation, motion
작동, 작동하다 | work, operate, function
반응 | react, reaction, response
의도 | intent, intention
구조 | structure
계층, 레이어 | layer, hierarchy
패턴 | pattern
객체 지향 | object-oriented
함수형 | functional
기술 부채, 기술부채 | technical debt, tech debt
부채 | debt, liability
레거시 | legacy
도구, 툴 | tool
자원, 리소스 | resource
품질 | quality
이점 | benefit, advantage
정보 | information, info
자료 | material, data
지식 | knowledge
경험 | experience
능력 | ability, capability
기술 | technology, skill, tech
노력 | effort
기회 | opportunity, chance
변화 | change
개선 | improve, improvement, enhance
향상 | improve, enhancement
악화 | worsen, degrade
성장 | growth, grow
발전 | progress, advance
장소 | place, venue
사무실 | office
주소록, 연락처 | contact, address book
연락 | contact, reach out
초대 | invite, invitation
참석 | attend
참여, 참가 | participate, participation, join
참가자, 참석자 | participant, attendee
조직 | organization, organisation
부서 | department
회원, 멤버 | member
손님, 게스트 | guest
관객, 시청자 | audience, viewer
공급자, 제공자, 프로바이더 | provider, supplier
제공 | provide, offer
업체, 공급업체 | vendor, supplier
경쟁사, 경쟁자 | competitor
파트너 | partner
제휴 | partnership, affiliate
시장 | market
산업 | industry
정부 | government
법인 | corporation
사업 | business
사업자 | business owner, business
창업, 스타트업 | startup
사료, 먹이 | feed, pet food
방 | room
문 | door
창문 | window
벽지 | wallpaper
열쇠 | key
우산 | umbrella
옷 | clothes, clothing
신발 | shoes
가방 | bag
안경 | glasses
약 | medicine, medication, pill
물 | water
돈 | money
땅 | land
나무 | tree, wood
꽃 | flower
비료 | fertilizer
물주기, 물 주기 | watering
햇빛 | sunlight
사내 | in-house, company internal, internal
동네 | neighborhood
도시 | city
나라, 국가 | country, nation
세계 | world
언어 | language
문화 | culture
종교 | religion
사람 | person, human
남자, 남성 | man, male
여자, 여성 | woman, female
나이, 연령 | age
성별 | gender
"""
