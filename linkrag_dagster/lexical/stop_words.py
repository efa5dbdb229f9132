"""Stop words: closed-class words that say nothing about what a text is about (BM-02).

Short lists on purpose: BM25's idf already discounts what is frequent, and a word on a list can never be found.
They are written as the analyzer sees words: case-folded, accents folded where the analyzer folds them.
"""

from __future__ import annotations

STOP_WORDS_VERSION = "1"
"""Raised whenever a list changes."""

_ENGLISH = """
a about an and are as at be been being but by can could did do does doesn don for from had has have he her his
how i if in into is isn it its me my not of on or our shall she should so such than that the their them then
there these they this those to too us very was we were what when where which who whom whose why will with
would you your
"""

_RUSSIAN = """
а без бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее если есть еще же за и
из или им их к как ко когда кто ли мы на над нам нас не него нее ни них но о об он она они оно от по под при с
со так также такой там то того тоже той только том ты у уже чего чем что чтобы эта эти это этот я
"""

_GREEK = """
αλλα αν απο για δε δεν ειναι εκεινο εκεινοσ ενα ενασ ενω επι η ηταν θα και κατα κι μα με μετα μη μην μια να ο
οι οπωσ οταν οτι παρα που προσ πωσ σε στα στη στην στισ στο στον στουσ τα την τησ τι τισ το τον του τουσ των
ωσ
"""

_FRENCH = """
a au aux avec ce ces cet cette comme dans de des du elle elles en est et etre il ils je la le les leur leurs
lui ma mais me mes mon ne nos notre nous on ont ou par pas pour qu que qui sa sans se ses si son sont sur ta
te tes toi ton tu un une vos votre vous y
"""

_GERMAN = """
aber als am an auch auf aus bei beim bin bis bist da das dass dem den der des die dies diese dieser dieses
durch ein eine einem einen einer eines er es fur hat hatte ich ihm ihn ihr ihre im in ist ja kann man mich mit
nach nicht noch nur ob oder sein seine sich sie sind so uber um und uns unter vom von vor war waren was wenn
wer wie wir wird wo zu zum zur
"""

_SPANISH = """
a al como con cual cuando de del desde donde el ella ellas ellos en entre era es esa ese eso esta estas este
esto estos fue ha han hay la las le les lo los mas me mi mis muy no nos o para pero por porque que quien se
ser si sin sobre son su sus te tu tus un una unas uno unos y ya yo
"""

_ITALIAN = """
a ad agli ai al alla alle allo anche c che chi ci come con cui da dai dal dalla dei del della delle dello di
dove e ed era gli ha hanno ho i il in io la le lei li lo loro lui ma mi mia mio ne nei nel nella no noi non o
per perche piu quale quando quella quello questa questo se si sono su sua sue sui sul sulla suo tra tu un una
uno voi
"""

_PORTUGUESE = """
a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu foi ha
isso isto ja lhe mais mas me mesmo meu minha muito na nao nas nem no nos o os ou para pela pelo por qual
quando que quem se sem ser seu seus so sua suas tambem te tem um uma voce
"""

_DUTCH = """
aan al als bij dat de der deze die dit door een en er ge geen had heb hebben heeft hem het hier hij hoe hun ik
in is ja je kan me meer met mij mijn na naar niet nog nu of om omdat onder ons ook op over te tegen toch toen
tot u uit uw van veel voor want waren was wat wel werd wie wij wordt zal ze zich zij zijn zo zonder zou
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "english": frozenset(_ENGLISH.split()),
    "russian": frozenset(_RUSSIAN.split()),
    "greek": frozenset(_GREEK.split()),
    "french": frozenset(_FRENCH.split()),
    "german": frozenset(_GERMAN.split()),
    "spanish": frozenset(_SPANISH.split()),
    "italian": frozenset(_ITALIAN.split()),
    "portuguese": frozenset(_PORTUGUESE.split()),
    "dutch": frozenset(_DUTCH.split()),
}
"""Stop words by language, named as Snowball names its stemmers."""
