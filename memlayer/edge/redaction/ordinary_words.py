"""Words that stand after "password:" or "password is" without being one: types, states, what is asked of a password."""

from __future__ import annotations

_WORDS = """
a an the this that these those it its my your our their his her mine yours one two three same different other
another str string text bytes byte int integer number bool boolean float double object any unknown void never char
varchar nvarchar uuid date datetime optional list dict array map set tuple type none null nil undefined nan true
false yes no on off securestring secretstr buffer slice vec option result function callable symbol bigint blob json
email textfield charfield passwordfield username user login name root value values field fields input output key
keys token tokens password passwd passphrase pwd pass secret secrets credential credentials auth bearer basic
required missing empty blank wrong incorrect invalid valid correct right ok okay fine good bad weak strong short
long longer shorter expired revoked rejected accepted denied needed necessary mandatory default unset not also only
just too very now still then always already currently being been be is are was were has have had must should shall
can could may might will would do does did done in at by from for with without of to as and or but if when while
where why how what which who via per using used use see ask check get read write stored saved hashed salted
encrypted decrypted encoded decoded generated created rotated changed reset updated deleted removed replaced sent
passed given shown hidden masked redacted visible plain plaintext cleartext safe unsafe secure insecure leaked
exposed compromised protected public private shared global local remote internal external temporary temp permanent
random unique static dynamic inherit inherited bcrypt scrypt argon sha md hmac rsa aes jwt oauth saml ldap kerberos
sso mfa totp otp localstorage sessionstorage cookie cookies env environment vault keychain keyring dotenv config
settings database db test tests testing foo bar baz qux todo tbd na n/a omitted skip skipped disabled enabled
available unavailable stale fresh cached lost forgotten locked unlocked confirmed verified validated checked prompt
prompted hint help label placeholder title description error message warning info debug trace success failure failed
pending here there below above inside outside everywhere nowhere somewhere elsewhere nothing something anything
everything post put patch delete head options select insert update grant alter identity identified const let var def
return new old current next previous first last more less least most enough simple complex easy hard guessable
trivial
"""

ORDINARY_WORDS = frozenset(_WORDS.split())
