"""Judge values made of words.

Passphrases, words with hyphens, app passwords in groups, Hangul with digits.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.value_traits import is_ordinary_word, is_wordy

HANGUL_VALUE = r"[가-힣]{1,12}[0-9]+[!-~]*"
FOUR_GROUPS = r"[a-z]{4}(?:[ ][a-z]{4}){3}(?![a-z0-9]|[ ][a-z])"
# Words of sentences and names about passwords, rarely of a password.
_TALK_WORDS = """
password passwords passwd passphrase pass pw pin secret secrets token tokens key keys name names file path ref env var
value type typed field page form screen reset change changed forgot forgotten hint hash hashed prompt input label
title subject text message error invalid required must should enter your please character characters letters digits
digit symbols least minimum maximum min max default none null true false config vault manager policy confirm
confirmation mismatch match expired user username email login sign again choose pick repeat wrong incorrect cannot not
is are was be been too short long weak strong empty missing set unset new current contain contains
"""
_TALK = frozenset(_TALK_WORDS.split())
_KOREAN_TALK = ("비밀번호", "비번", "암호", "입력", "이상", "확인", "자리", "글자", "하세요", "해주세요", "주세요")
_MEANS = r"(?:으로|로)? ?(?:해시|해싱|암호화|인코딩)| ?(?:화면|페이지|버튼|컴포넌트|탭|폼|필드|칸)"
_ANOTHER_NOUN = r" (?!값|내용|자체|문자열)[가-힣]{2,8}(?:은|는) $"
_COPULA = r" ?(?:이?야|이?에요|예요|입니다|이다|임|이고|인데)"
_BASE64 = r"(?:[0-9A-Za-z+/_-]{4})+(?:[0-9A-Za-z+/_-]{2}==|[0-9A-Za-z+/_-]{3}=)$"


def is_base64(value: str) -> bool:
    """True for whole groups of four with padding: `aHVudGVyMg==`."""
    if len(value) < 8 or len(value) % 4 or re.match(_BASE64, value) is None:
        return False
    return any(char.isdigit() for char in value) or not (value.islower() or value.isupper())


def are_four_groups(value: str, sure: bool) -> bool:
    """True for `abcd efgh ijkl mnop`, as mail services issue it.

    sure: the name or the sentence leaves no doubt.
    """
    words = value.split(" ")
    unspeakable = any(not set(word) & set("aeiouy") for word in words)
    return (
        re.match(FOUR_GROUPS + "$", value) is not None
        and (sure or unspeakable)
        and not any(is_ordinary_word(word) for word in words)
    )


def are_quoted_words(value: str, environment: bool) -> bool:
    """True for `correct horse battery staple`.

    False for a sentence to the person who types a password.
    """
    words = value.lower().split()
    if any(word.strip(".,!?:'") in _TALK for word in words) or any(said in value for said in _KOREAN_TALK):
        return False
    digits = any(char.isdigit() for char in value)
    if not value.isascii():
        return environment and digits
    return environment or (len(words) >= 3 and value[0].islower() and (digits or len(words) >= 4))


def are_joined_words(value: str, least: int) -> bool:
    """True for `correct-horse-battery-staple`, false for `forgot-password-page`."""
    words = value.lower().split("-")
    plain = all(re.match(r"[a-z]{1,12}\d{0,2}$|\d{1,4}$", word) for word in words)
    return plain and len(words) >= least and not any(word in _TALK for word in words)


def hangul_is_secret(value: str, rest: str) -> bool:
    """True for `사과나무12`.

    With a digit or two and no sign, `버전2` and `화면12 에서` look alike, so the sentence must end. rest: of its line.
    """
    word = re.match(r"[가-힣]+(\d+)", value)
    if word is None or len(word.group(1)) >= 3 or len(value) > word.end():
        return True
    ends = re.match(r" ?(?:이?야|입니다|이?에요|예요|이고|임|이다|인데|이?라고)|[.,!?;)\"']|$", rest.rstrip())
    return len(value) >= 5 and ends is not None


def says_how(value: str, after: str) -> bool:
    """True for a means or a place: `sha3로 해싱`, `vue3 화면`."""
    return re.match(_MEANS, after) is not None and value.isalnum() and value.islower() and is_wordy(value)


def is_of_another_noun(joint: str, value: str, after: str) -> bool:
    """True where another noun owns the value.

    `비밀번호 테이블은 users2로`: it is the table's; `비밀번호는 step2에서`: it names a place.
    """
    if not (value.isascii() and value.islower() and value.isalnum() and is_wordy(value)):
        return False
    noun = re.match(_ANOTHER_NOUN, joint) is not None and re.match(_COPULA, after) is None
    return noun or (joint.strip() in ("는", "은") and after.startswith("에서"))


def stands_for(name: str, value: str) -> bool:
    """True for the long form of a short name: `pw: playwright`."""
    return name == "pw" and value[:1].lower() == "p" and "w" in value[1:].lower()
