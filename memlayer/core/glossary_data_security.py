"""Glossary rows: who may do what. Sign-in, rights, secrets, privacy."""

from __future__ import annotations

ROWS = """
인증 | authentication, authenticate, auth
인증서 | certificate, cert
인가, 권한 부여 | authorization, authorize
권한 | permission, privilege, access right
역할 | role
접근, 접근 권한 | access
로그인, 사인인 | login, log in, sign in, sign-in, signin
로그아웃 | logout, log out, sign out
회원가입, 가입 | sign up, signup, registration
탈퇴, 회원탈퇴 | withdrawal, account deletion, unsubscribe
계정 | account
비밀번호, 패스워드, 암호, 비번 | password, passphrase, passcode
비밀번호 재설정, 비밀번호 초기화 | password reset
이중 인증, 이단계 인증 | two factor, 2fa, mfa
소셜 로그인 | social login
싱글 사인온 | sso, single sign-on
토큰 | token
액세스 토큰 | access token
리프레시 토큰 | refresh token
만료, 만기 | expire, expiration, expiry
만료일, 유효기간 | expiry date, expiration date, validity
비밀 키, 비밀키, 시크릿 | secret, secret key
개인 키, 개인키 | private key
공개 키, 공개키 | public key
키 | key
암호화 | encrypt, encryption
복호화 | decrypt, decryption
서명 | signature, sign
솔트 | salt
보안 | security, secure
취약점 | vulnerability
공격 | attack
해킹 | hack
침해 | breach
인젝션 | injection
스팸 | spam
봇 | bot
차단 | block, ban
허용 | allow, permit
허용 목록, 화이트리스트 | allowlist, whitelist
차단 목록, 블랙리스트 | blocklist, blacklist, denylist
개인정보, 개인 정보 | personal data, personal information, privacy, pii
익명화, 익명 | anonymize, anonymous
마스킹 | mask, masking
감사 로그 | audit log
자격 증명, 자격증명 | credential
소유자 | owner
소유권 | ownership
최소 권한 | least privilege
접근 거부 | access denied, forbidden
인증 코드, 인증번호 | verification code, otp
본인 인증, 본인인증 | identity verification
생체 인증, 지문 | biometric, fingerprint
캡차 | captcha
교차 출처 | cross-origin, cors
세션 만료 | session expiry, session timeout
키 교체, 키 순환 | key rotation
유출 | leak, breach, exposure
노출 | expose, exposure
도용 | theft, stolen
사기 | fraud
사칭, 피싱 | phishing, impersonate
악성코드, 멀웨어 | malware
바이러스 | virus
침투 테스트, 모의 해킹 | penetration test, pentest
격리하다 | quarantine, isolate
신원 | identity
규정 | regulation, rule, compliance
규제 | regulation
준수 | comply, compliance
감사 추적 | audit trail
파기 | destroy, purge
"""
