"""Glossary rows: what software is about. Shops, money, models, images, games, sensors, schools, maps."""

from __future__ import annotations

ROWS = """
결제, 지불 | payment, pay, billing, checkout
결제 대행사, 결제대행사, 결제 대행 | payment gateway, payment provider, pg
간편결제, 간편 결제 | easy payment, one-click payment
청구 | bill, billing, charge, invoice
과금 | billing, charge
청구서, 송장, 인보이스 | invoice
영수증 | receipt
세금계산서 | tax invoice
환불 | refund
반품 | return
주문 | order
주문 번호, 주문번호 | order number, order id
주문 내역, 주문내역 | order history
구매, 구입 | purchase, buy
판매 | sale, sell
판매자, 셀러 | seller, vendor, merchant
구매자 | buyer
가맹점 | merchant
샀-, 사들이다 | buy, purchase
팔다 | sell
매출 | revenue, sales
수익 | revenue, profit, earnings
이익 | profit
비용 | cost, expense
지출 | expense, spending
수입 | income, import
예산 | budget
가격, 단가 | price, unit price
요금 | fee, rate, fare, charge
요금제 | pricing plan, plan, tier
무료 | free
유료 | paid
수수료 | fee, commission
세금 | tax
부가세, 부가가치세 | vat, value added tax
소득세 | income tax
연말정산 | year-end tax settlement, tax settlement
정산 | settlement, settle, reconcile
회계 | accounting
장부 | ledger, bookkeeping
분개 | journal entry
차변 | debit
대변 | credit
대조, 대사 | reconcile, reconciliation
잔액, 잔고 | balance
통장 | bank account, passbook
은행 | bank
계좌 | account, bank account
계좌이체, 이체, 송금 | transfer, wire transfer, remittance
입금 | deposit
출금, 인출 | withdraw, withdrawal
대출 | loan
이자 | interest
환율 | exchange rate
통화, 화폐 | currency
현금 | cash
신용카드, 카드 | card, credit card
할부 | installment
할인 | discount
쿠폰 | coupon
포인트, 적립금 | point, reward
프로모션, 판촉 | promotion
장바구니, 카트 | cart, basket, shopping cart
찜, 위시리스트 | wishlist
쇼핑몰, 상점, 가게 | shop, store, mall
온라인 쇼핑 | online shopping, ecommerce
이커머스, 전자상거래 | ecommerce, e-commerce
상품, 제품 | product, goods, item
상품 상세, 상세 페이지 | product page, detail page
재고 | stock, inventory
품절 | out of stock, sold out
입고 | restock, inbound
창고 | warehouse
배송 | delivery, shipping, ship
배송비 | shipping fee, shipping cost, delivery fee
배송지 | shipping address, delivery address
택배 | parcel, courier
배달 | delivery, deliver
운송장 | tracking number, waybill
예약 | reservation, booking, book, reserve
좌석 | seat
입장권 | ticket, admission
계약 | contract
계약서 | contract, agreement
약관 | terms
라이선스, 라이센스 | license, licence
저작권 | copyright
특허 | patent
법무, 법률 | legal, law
마케팅 | marketing
광고 | ad, advertisement, advertising
캠페인 | campaign
전환율 | conversion rate
이탈, 이탈률 | churn, bounce rate, bounce
방문자 | visitor
방문 | visit
클릭률 | click-through rate, ctr
뉴스레터, 소식지 | newsletter
이메일, 메일, 전자우편 | email, mail, e-mail
편지 | letter
문자 메시지, 문자메시지 | sms, text message
전화 | phone, call
휴대폰, 핸드폰, 스마트폰 | phone, mobile phone, smartphone, cellphone
채팅 | chat
챗봇 | chatbot
댓글 | comment, reply
게시글, 게시물, 포스트 | post
게시판 | board, forum
블로그 | blog
기사 | article
뉴스 | news
프로필 | profile
친구 | friend
팔로우, 팔로워 | follow, follower
인공지능 | ai, artificial intelligence
머신러닝, 기계 학습, 기계학습 | machine learning, ml
딥러닝 | deep learning
신경망 | neural network
언어 모델, 언어모델 | language model, llm
임베딩 | embedding
벡터 | vector
토크나이저 | tokenizer
훈련 | training, train
파인튜닝, 미세조정, 미세 조정 | fine-tuning, fine-tune, finetune
추론 | inference, reasoning
학습률 | learning rate
에포크 | epoch
경사 하강법 | gradient descent
기울기 | gradient, slope
과적합, 오버피팅 | overfit, overfitting
데이터셋, 데이터 세트 | dataset, data set
말뭉치, 코퍼스 | corpus
체크포인트 | checkpoint
양자화 | quantization, quantize
증류 | distillation
군집화, 클러스터링 | clustering
유사도 | similarity
정답 | answer, ground truth, label
환각 | hallucination
에이전트 | agent
음성 | voice, speech, audio
음성 인식, 음성인식 | speech recognition, asr, speech-to-text, stt
음성 합성, 음성합성 | speech synthesis, tts, text-to-speech
소리, 오디오 | sound, audio
음량, 볼륨 | volume
마이크 | microphone, mic
스피커, 화자 | speaker
녹음 | record, recording
소음, 잡음, 노이즈 | noise
음악 | music
노래 | song, sing
재생 | play, playback
재생 목록, 재생목록 | playlist
자막 | subtitle, caption
영상, 동영상, 비디오 | video
영화 | movie, film
사진 | photo, picture, image
그림 | picture, drawing, image
그리다 | draw, paint
카메라 | camera
촬영 | shoot, filming, capture
해상도 | resolution
화질 | image quality, video quality
화소 | pixel
흐림, 블러 | blur
선명도 | sharpness
보정 | correction, calibrate, calibration
필터 | filter
투명도 | opacity, transparency
회전 | rotate, rotation
자르다 | cut, crop, trim
글자 인식, 문자 인식 | ocr, text recognition
얼굴 | face
얼굴 인식 | face recognition, facial recognition
객체 탐지, 물체 인식 | object detection
그래픽 | graphics, graphic
셰이더, 쉐이더 | shader
그림자 | shadow
조명 | lighting, light
빛 | light
텍스처, 질감 | texture
재질, 머티리얼 | material
반사 | reflection, reflect
정점 | vertex
메시 | mesh
프레임 | frame
프레임률, 프레임레이트 | frame rate, framerate, fps
좌표 | coordinate
물리 엔진 | physics engine
물리 | physics
중력 | gravity
게임 | game
게임 엔진 | game engine
플레이어 | player
캐릭터 | character
몬스터 | monster
적군 | enemy
무기 | weapon
지형 | terrain
타일 | tile
스프라이트 | sprite
맵 | map
난이도 | difficulty
퀘스트 | quest
업적 | achievement
센서 | sensor
임베디드 | embedded
펌웨어 | firmware
회로 | circuit
기판 | board, pcb
마이크로컨트롤러 | microcontroller, mcu
전압 | voltage
전류 | current
전력 | power
전원 | power supply, power
배터리, 건전지 | battery
충전 | charge, recharge
모터 | motor
로봇 | robot
드론 | drone
안테나 | antenna
신호 | signal
주파수 | frequency
온도 | temperature
습도 | humidity
압력 | pressure
먼지, 미세먼지 | dust, fine dust
표본화, 샘플링 | sampling, sample
측정값 | reading, measurement
사물인터넷 | iot, internet of things
스마트홈, 스마트 홈 | smart home
화분 | plant pot, pot
식물 | plant
지도 | map
위치 | location, position
위도 | latitude
경도 | longitude
거리 | distance, street
길찾기, 길 찾기 | directions, route finding, navigation
지오코딩 | geocoding
현재 위치 | current location
가계부 앱 | budget app
송장 번호, 송장번호 | tracking number, invoice number
회의록 | meeting notes, minutes
단위 | unit
채보 | transcription
받아쓰기 | dictation, transcription, transcribe
화자 분리, 화자분리 | speaker diarization, diarization
억제 | suppress, suppression
잡음 제거 | noise reduction, denoise
무음, 침묵 | silence
묵음 | mute, silent
음정 | pitch
박자 | beat, tempo
파형 | waveform
스펙트럼 | spectrum
은닉층 | hidden layer
활성화 함수 | activation function
어텐션 | attention
트랜스포머 | transformer
분할 | split, segmentation, partition
검증 세트 | validation set
교차 검증 | cross validation
이상치 | outlier
결측치, 결측값 | missing value
충돌 판정 | collision detection, hitbox
벽 | wall
길 찾기 알고리즘 | pathfinding
시점 | viewpoint, point in time
원근 | perspective
법선 | normal
광원 | light source
후처리 | post-processing, postprocess
전처리 | preprocessing, preprocess
"""
