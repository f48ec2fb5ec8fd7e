"""Sentences for the demonstration corpus: everyday English and Persian, made from a seed.

Templates with slots give many thousands of distinct sentences; the plain ones bring in rarer
sounds. One sentence in eight is set aside by a hash of its text, so what is held out is never
spoken in a corpus, whatever its seed and size. Speaking them is `demo_corpus`'s job.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.errors import UsageError

_HELD_OUT_ONE_IN = 8


@dataclass(frozen=True)
class Grammar:
    """Templates, and the words for each slot."""

    templates: tuple[str, ...]
    words: dict[str, tuple[str, ...]]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


_ENGLISH = Grammar(
    templates=(
        "{person} bought {thing} at the {place}.",
        "{person} left {thing} in the {room}.",
        "{person} found {thing} behind the {furniture}.",
        "Did {person} bring {thing} to the {place}?",
        "{person} and {person} walked to the {place} together.",
        "{person} will meet you near the {place} at {hour}.",
        "The {place} opens at {hour} and closes late.",
        "The {place} was {quality} {past}.",
        "We drove past the {place} {past}.",
        "My {relative} works at the {place}.",
        "My {relative} is cooking {food} in the {room}.",
        "My {relative} has {number} {animals} and a garden.",
        "Her {relative} asked for {food} and {food}.",
        "His {relative} never eats {food} before {hour}.",
        "Could you pass me the {food}, please?",
        "There is some {food} on the {furniture}.",
        "I would rather have {food} than {food}.",
        "This {food} tastes {quality}, doesn't it?",
        "They sell {food} beside the {place}.",
        "{number} {animals} slept under the {furniture}.",
        "The {animals} ran across the {place}.",
        "Have you ever seen {number} {animals} at once?",
        "The {colour} bird sang above the {place}.",
        "She wore a {colour} coat and {colour} shoes.",
        "He painted the {room} {colour}.",
        "The {colour} door leads to the {room}.",
        "The sky turned {colour} in the {daytime}.",
        "It was a {quality} {daytime} in {month}.",
        "It rained all {daytime}, so {person} stayed home.",
        "In {month} the nights are {quality}.",
        "{person} was born in {month}.",
        "The train leaves at {hour} in the {daytime}.",
        "Please call {person} before {hour}.",
        "Please put {thing} on the {furniture}.",
        "Don't forget {thing} when you leave the {place}.",
        "Where did you put {thing}?",
        "Why is {thing} under the {furniture}?",
        "Who took {thing} from the {room}?",
        "How far is the {place} from here?",
        "Is {person} still waiting at the {place}?",
        "I can hear {person} singing in the {room}.",
        "I have known {person} for {number} years.",
        "We need {number} chairs in the {room}.",
        "You can borrow {thing} until {hour}.",
        "Turn {side} at the {place} and go straight on.",
        "The house on the {side} has a {colour} roof.",
        "Nobody noticed {thing} on the {side}.",
        "{person} read the letter {manner}.",
        "{person} closed the {colour} box {manner}.",
        "The old man spoke {manner} about the {place}.",
        "Children were playing {manner} by the {place}.",
        "A {quality} wind blew through the {room}.",
        "The {furniture} is too {quality} for this {room}.",
        "If it snows, the {place} will be {quality}.",
        "When {person} came home, the {room} was {quality}.",
        "After {hour} the {place} gets very {quality}.",
        "{person} told us a story about {number} {animals}.",
        "Both {person} and my {relative} love {food}.",
        "Half of the {food} is for {person}.",
        "{person} thinks the {animals} are {quality}.",
        "The weather this {month} has been {quality}.",
        "Let us sit by the {furniture} and talk.",
        "Good {daytime}, {person}, how are you?",
        "Thank you, {person}, for {thing}.",
        "No, {person} is not at the {place} today.",
        "Yes, I saw your {relative} at the {place}.",
        "It was a pleasure to measure the garage.",
        "The boy enjoyed the noise of the toys.",
        "Three thin thieves thought about the cloth.",
        "The usual treasure lies under the bridge.",
        "Which church did the Welsh teacher choose?",
        "Joyce judged the large orange fudge.",
        "Those brothers breathe the northern air together.",
        "You should push the wooden hook a bit.",
        "The loud crowd wandered around the town.",
        "Fresh fish splash in the shallow ocean.",
        "Zebras graze in the hazy breeze.",
        "Strong springs stretch across the street.",
        "He heard her whisper under the stairs.",
        "Young yaks use yellow yarn.",
        "The king was singing a long song.",
        "Our hour by the tower was over.",
        "Pure water cures the poor tourist.",
        "Vivid violets cover the valley.",
        "Six sick swans swim slowly south.",
        "Walk quickly through the quiet square.",
        "The author earned a certain word of thanks.",
        "Nine lions lie down at night.",
        "She threw the ball against the tall wall.",
        "Go home slowly and close the window.",
        "The cat sat back and had a snack.",
        "Fill the big bin with dishes.",
        "Hot coffee stopped the doctor from coughing.",
        "Ben sent ten letters every seven days.",
        "Just one cup of mushrooms is enough.",
        "Please leave these clean sheets here.",
        "Two blue shoes flew through the room.",
        "Park the large car far from the barn.",
        "Measure twice and cut once.",
        "Every cloud has a bright edge.",
        "The chef chopped the fresh herbs.",
        "Early birds catch the first worm.",
        "A journey begins with a single step.",
        "The judge made an unusual decision.",
        "Nothing is quite as quick as light.",
        "The garden looks beautiful after the rain.",
        "We ought to thaw the frozen strawberries.",
        "Would you mind opening the window?",
        "The music grew louder and louder.",
        "They laughed until their sides hurt.",
        "Keep the change and have a nice day.",
        "I will be back in a few minutes.",
        "What a strange and wonderful place this is!",
        "The engine coughed, sputtered and died.",
        "Fold the paper along the dotted line.",
        "His voice was calm, but his hands shook.",
        "The river froze early that winter.",
        "A thick fog covered the whole valley.",
        "Somebody knocked gently at the back door.",
        "The answer is neither here nor there.",
    ),
    words={
        "person": _words(
            "Anna, Brian, Chloe, David, Edith, Frank, Grace, Henry, Iris, Jack, Karen, Louis, "
            "Martha, Nathan, Olive, Peter, Rachel, Simon, Thea, Victor, Wendy, Yusuf, Zoe"
        ),
        "thing": _words(
            "a book, the keys, an umbrella, the map, a lamp, the camera, her glasses, a blanket, "
            "the newspaper, a hammer, his jacket, the ticket, a pencil, the basket, a guitar, "
            "the mirror, a bicycle, the candle, an envelope, the letter"
        ),
        "place": _words(
            "market, station, library, harbour, museum, bakery, school, bridge, theatre, village, "
            "hospital, airport, river, church, castle, beach, office, garden, factory, square"
        ),
        "room": _words(
            "kitchen, bedroom, hall, cellar, garage, attic, bathroom, classroom, workshop, study"
        ),
        "furniture": _words(
            "table, chair, sofa, shelf, desk, bench, cupboard, window, fireplace, piano, stove"
        ),
        "food": _words(
            "bread, cheese, soup, rice, honey, apples, cherries, fish, chicken, chocolate, "
            "yoghurt, mushrooms, potatoes, butter, orange juice, vegetable stew, peach jam, "
            "garlic, walnuts"
        ),
        "relative": _words(
            "mother, father, brother, sister, uncle, aunt, cousin, grandfather, daughter, neighbour"
        ),
        "animals": _words(
            "cats, dogs, horses, sheep, foxes, geese, rabbits, donkeys, squirrels, pigeons, frogs"
        ),
        "number": _words(
            "two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, fifteen, twenty"
        ),
        "colour": _words(
            "red, green, blue, yellow, purple, brown, white, black, grey, pink, golden, silver"
        ),
        "quality": _words(
            "quiet, cold, warm, strange, busy, bright, dark, pleasant, noisy, empty, fresh, heavy, "
            "beautiful, awful, gentle, smooth, rough, dusty"
        ),
        "daytime": _words("morning, evening, afternoon"),
        "month": _words(
            "January, February, March, April, May, June, July, August, September, October, "
            "November, December"
        ),
        "hour": _words(
            "noon, midnight, one o'clock, half past two, a quarter to four, five thirty, six, "
            "seven fifteen, eight o'clock, nine, ten forty, eleven"
        ),
        "past": _words("yesterday, last night, last week, this morning, on Sunday, on Thursday"),
        "side": _words("left, right"),
        "manner": _words("slowly, quickly, quietly, loudly, carefully, cheerfully, softly, again"),
    },
)

_PERSIAN = Grammar(
    templates=(
        "{name} دیروز به {place} رفت.",
        "{name} هر روز به {place} می‌رود.",
        "{name} فردا از {place} برمی‌گردد.",
        "{name} و {name} با هم به {place} رفتند.",
        "{name} {thing} را در {place} جا گذاشت.",
        "{name} {thing} را روی میز گذاشت.",
        "{name} {thing} را از {place} خرید.",
        "{name} برای {relative} خود {thing} خرید.",
        "{name} دنبال {thing} می‌گردد.",
        "{name} در {place} کار می‌کند.",
        "{name} در {place} منتظر شماست.",
        "{name} امروز {feeling} است.",
        "{name} دیشب خیلی {feeling} بود.",
        "{name} با {food} صبحانه می‌خورد.",
        "{name} {food} را بیشتر از {food} دوست دارد.",
        "{name} در ماه {month} به دنیا آمد.",
        "{name} {number} سال در این شهر زندگی کرد.",
        "{name} می‌خواهد {number} کتاب بخرد.",
        "آیا {name} هنوز در {place} است؟",
        "آیا {thing} را پیدا کردی؟",
        "چرا {name} به {place} نیامد؟",
        "چه کسی {thing} را برداشت؟",
        "{thing} را کجا گذاشتی؟",
        "از این‌جا تا {place} چقدر راه است؟",
        "ساعت {hour} در {place} می‌بینمت.",
        "قطار ساعت {hour} حرکت می‌کند.",
        "لطفاً پیش از ساعت {hour} به {name} زنگ بزنید.",
        "لطفاً {thing} را به من بدهید.",
        "لطفاً {thing} را فراموش نکنید.",
        "{relative} من {food} می‌پزد.",
        "{relative} من در {place} درس می‌خواند.",
        "{relative} من {number} {animal} دارد.",
        "{relative} تو را در {place} دیدم.",
        "{relative} او از {place} آمده است.",
        "{number} {animal} در باغ می‌دویدند.",
        "{number} {animal} زیر درخت خوابیده‌اند.",
        "یک {animal} {colour} از دیوار پرید.",
        "این {animal} خیلی {quality} است.",
        "آن {animal} {colour} مال {name} است.",
        "در {place} یک در {colour} هست.",
        "دیوارهای {place} {colour} است.",
        "پیراهن {colour} او {quality} بود.",
        "آسمان {month} همیشه {colour} نیست.",
        "هوای {month} در این شهر {quality} است.",
        "امروز هوا {quality} و آفتابی است.",
        "دیشب هوا {quality} شد.",
        "اگر باران ببارد، {name} به {place} نمی‌رود.",
        "وقتی رسیدم، {name} {feeling} بود.",
        "وقتی {name} آمد، همه {feeling} شدند.",
        "بعد از ساعت {hour} {place} {quality} می‌شود.",
        "ما {food} و {food} خریدیم.",
        "این {food} بسیار خوش‌مزه است.",
        "کمی {food} روی میز مانده است.",
        "من {food} نمی‌خورم، ولی {food} دوست دارم.",
        "بچه‌ها در {place} بازی می‌کنند.",
        "بچه‌ها {food} را با خوشحالی خوردند.",
        "به نظر من {name} {feeling} نیست.",
        "ما {number} روز در راه بودیم.",
        "من {number} بار به {place} رفته‌ام.",
        "کتاب‌های {name} در {place} است.",
        "صدای {name} از {place} می‌آمد.",
        "ممنونم، {name}، {thing} را پیدا کردم.",
        "سلام {name}، حال {relative} شما چطور است؟",
        "نه، {name} امروز در {place} نیست.",
        "بله، {relative} شما را می‌شناسم.",
        "خواهش می‌کنم آرام‌تر صحبت کنید.",
        "پنجره را باز کن، هوا گرم است.",
        "چراغ‌ها را خاموش کنید و بخوابید.",
        "ژاله در باغ گل‌های قشنگی کاشت.",
        "چای داغ در این هوا می‌چسبد.",
        "قطره قطره جمع گردد، وانگهی دریا شود.",
        "هر که بامش بیش، برفش بیشتر.",
        "غروب خورشید از بالای کوه زیباست.",
        "ماهی‌ها در حوض آبی شنا می‌کنند.",
        "گنجشک‌ها صبح زود آواز می‌خوانند.",
        "پدربزرگ قصه‌های قدیمی می‌گوید.",
        "مادر نان تازه را از تنور بیرون آورد.",
        "این کوچه به خیابان اصلی می‌رسد.",
        "فردا صبح زود به سفر می‌رویم.",
        "برف سنگینی روی کوه‌ها نشسته است.",
        "کشتی آهسته از بندر دور شد.",
        "خیلی وقت است که تو را ندیده‌ام.",
        "صبر تلخ است، ولی میوه‌ی شیرین دارد.",
        "ببخشید، ایستگاه مترو کجاست؟",
        "او هیچ‌وقت دروغ نمی‌گوید.",
        "دوچرخه‌ام را تعمیر کرده‌ام.",
        "باغبان درخت‌ها را آب می‌دهد.",
        "شاگردها به پرسش معلم پاسخ دادند.",
        "من این آهنگ را خیلی دوست دارم.",
        "ژاکت پشمی را در چمدان بگذار.",
    ),
    words={
        "name": _words(
            "سارا, علی, مریم, رضا, نرگس, حسین, لیلا, بهرام, پروین, کیان, شیرین, فرهاد, مینا, جواد, "
            "زهرا, پویا, آرش, گلناز, نیما, طاهره"
        ),
        "place": _words(
            "بازار, مدرسه, کتابخانه, پارک, خانه, بیمارستان, موزه, ایستگاه, فرودگاه, دانشگاه, "
            "مغازه, باغ, روستا, اداره, نانوایی, کارخانه"
        ),
        "thing": _words(
            "کتاب, کلید, چتر, نامه, ساعت, کیف, عینک, دفتر, نقشه, مداد, روزنامه, دوربین, لیوان, "
            "بلیت, جعبه, گلدان"
        ),
        "food": _words(
            "نان, پنیر, برنج, ماست, آش, انار, هندوانه, گیلاس, عسل, گردو, سیب‌زمینی, ماهی, خرما, "
            "مرغ, سبزی, شیر"
        ),
        "relative": _words("مادر, پدر, برادر, خواهر, عمو, خاله, دایی, پسرعمو, مادربزرگ, همسایه"),
        "animal": _words("گربه, سگ, اسب, خرگوش, مرغ, گوسفند, روباه, کبوتر, سنجاب, الاغ"),
        "number": _words(
            "دو, سه, چهار, پنج, شش, هفت, هشت, نه, ده, یازده, دوازده, پانزده, بیست, بیست و پنج"
        ),
        "colour": _words("سفید, سیاه, سبز, آبی, زرد, قرمز, خاکستری, نارنجی, بنفش, صورتی"),
        "quality": _words("سرد, گرم, قشنگ, شلوغ, خلوت, تاریک, روشن, عجیب, آرام, دلپذیر, لطیف"),
        "feeling": _words("خوشحال, غمگین, خسته, گرسنه, نگران, امیدوار, عصبانی, آرام, تشنه"),
        "month": _words(
            "فروردین, اردیبهشت, خرداد, تیر, مرداد, شهریور, مهر, آبان, آذر, دی, بهمن, اسفند"
        ),
        "hour": _words("یک, دو و نیم, سه, چهار و ربع, پنج, شش و نیم, هفت, هشت, نه و ربع, ده"),
    },
)

GRAMMARS: dict[str, Grammar] = {"en": _ENGLISH, "fa": _PERSIAN}


def sentences(language: str, seed: int, held_out: bool) -> Iterator[str]:
    """Distinct sentences without end, all set aside (`held_out`) or none of them."""
    if language not in GRAMMARS:
        raise UsageError(
            "The demonstration corpus speaks " + " and ".join(GRAMMARS),
            received=language,
            remedy="--languages en,fa",
        )
    return _endless(language, seed, held_out)


def _endless(language: str, seed: int, held_out: bool) -> Iterator[str]:
    grammar = GRAMMARS[language]
    stream = list(GRAMMARS).index(language) * 2 + held_out
    draws = np.random.Philox(key=np.array([seed, stream], np.uint64))
    given: set[str] = set()
    while True:
        sentence = _fill(_pick(grammar.templates, draws), grammar, draws)
        if sentence not in given and is_held_out(sentence) == held_out:
            given.add(sentence)
            yield sentence


def is_held_out(sentence: str) -> bool:
    """Whether this sentence is never part of a corpus."""
    return hashlib.blake2b(sentence.encode()).digest()[0] % _HELD_OUT_ONE_IN == 0


def _pick(choices: Sequence[str], draws: np.random.Philox) -> str:
    return choices[int(draws.random_raw()) % len(choices)]


def _fill(template: str, grammar: Grammar, draws: np.random.Philox) -> str:
    parts: list[str] = []
    used: set[str] = set()
    for literal, slot, _, _ in string.Formatter().parse(template):
        parts.append(literal)
        if slot is None:
            continue
        word = _pick(grammar.words[slot], draws)
        while word in used:  # nobody walks with himself
            word = _pick(grammar.words[slot], draws)
        used.add(word)
        parts.append(word)
    sentence = "".join(parts)
    return sentence[0].upper() + sentence[1:]
