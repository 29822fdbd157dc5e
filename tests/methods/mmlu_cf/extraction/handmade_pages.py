# ruff: noqa: E501 - pages stand as they are written
"""Small pages in many layouts, with their questions, choices and answers."""

from typing import NamedTuple


class Page(NamedTuple):
    """A page and its questions; `answer` is a position, or None if it has none."""

    name: str
    content_type: str
    text: str
    questions: list[tuple[str, list[str], int | None]]


HTML, TEXT, MARKDOWN = "text/html", "text/plain", "text/markdown"

TIDES = ("What causes the tides?", ["The wind", "The Moon", "Whales", "Rivers"])
METAL = ("Which metal is liquid at room temperature?", ["Iron", "Mercury", "Lead", "Zinc"])
SEVEN = ("Which number is a prime?", ["4", "6", "7", "9"])

PAGES = [
    Page(
        "dt and dd with letters",
        HTML,
        "<dl><dt>1. What causes the tides?</dt><dd>A) The wind</dd><dd>B) The Moon</dd><dd>C) Whales</dd>"
        "<dd>D) Rivers</dd><dt>Answer</dt><dd>B</dd></dl>",
        [(*TIDES, 1)],
    ),
    Page(
        "select elements with a placeholder",
        HTML,
        "<form><p>1. What causes the tides?</p><select name=a data-answer='The Moon'>"
        "<option value=''>Choose</option><option>The wind</option><option>The Moon</option>"
        "<option>Whales</option><option>Rivers</option></select>"
        "<p>2. Which number is a prime?</p><select name=b data-answer='7'><option value=''>Choose</option>"
        "<option>4</option><option>6</option><option>7</option><option>9</option></select></form>",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "numbered list of plain lists, answers as a list",
        HTML,
        "<ol><li>What causes the tides?<ol type='A'><li>The wind<li>The Moon<li>Whales<li>Rivers</ol></li>"
        "<li>Which number is a prime?<ol type='A'><li>4<li>6<li>7<li>9</ol></li></ol>"
        "<h2>Answer key</h2><ol><li>B</li><li>C</li></ol>",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "preformatted text",
        HTML,
        "<pre>\n1.<b> What causes the tides?</b>\n   A. The wind\n   B. The Moon\n   C. Whales\n   D. Rivers\n\n"
        "2. Which number is a prime?\n   A. 4\n   B. 6\n   C. 7\n   D. 9\n\nAnswers: 1. B  2. C\n</pre>",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "an asterisk before the right option",
        TEXT,
        "1. What causes the tides?\na. The wind\n*b. The Moon\nc. Whales\nd. Rivers\n\n"
        "2. Which number is a prime?\na. 4\nb. 6\n*c. 7\nd. 9\n",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "key by range",
        TEXT,
        "1. What causes the tides?\nA. The wind\nB. The Moon\nC. Whales\nD. Rivers\n"
        "2. Which number is a prime?\nA. 4\nB. 6\nC. 7\nD. 9\n"
        "3. Which metal is liquid at room temperature?\nA. Iron\nB. Mercury\nC. Lead\nD. Zinc\n\nAnswer Key\n1-3: B C B\n",
        [(*TIDES, 1), (*SEVEN, 2), (*METAL, 1)],
    ),
    Page(
        "a number that fits two questions",
        TEXT,
        "1. What causes the tides?\nA. The wind\nB. The Moon\nC. Whales\nD. Rivers\n"
        "1. Which number is a prime?\nA. 4\nB. 6\nC. 7\nD. 9\n\nAnswers: 1. B\n"
        "\n5. Which metal is liquid at room temperature?\nA. Iron\nB. Mercury\nC. Lead\nD. Zinc\nAnswer: B\n",
        [(*TIDES, None), (*SEVEN, None), (*METAL, 1)],
    ),
    Page(
        "letters in order, no numbers",
        TEXT,
        "What causes the tides?\nA. The wind\nB. The Moon\nC. Whales\nD. Rivers\n\nWhich number is a prime?\nA. 4\nB. 6"
        "\nC. 7\nD. 9\n\nWhich metal is liquid at room temperature?\nA. Iron\nB. Mercury\nC. Lead\nD. Zinc\n\nAnswer key: B, C, B\n",
        [(*TIDES, 1), (*SEVEN, 2), (*METAL, 1)],
    ),
    Page(
        "numbered statements in the stem",
        TEXT,
        "7. Consider the following statements:\n1. Iron is a metal.\n2. Mercury is a gas.\n"
        "Which of the statements given above is/are correct?\n(a) 1 only\n(b) 2 only\n(c) Both 1 and 2\n"
        "(d) Neither 1 nor 2\nAns: (a)\n",
        [
            (
                "Consider the following statements: 1. Iron is a metal. 2. Mercury is a gas. "
                "Which of the statements given above is/are correct?",
                ["1 only", "2 only", "Both 1 and 2", "Neither 1 nor 2"],
                0,
            )
        ],
    ),
    Page(
        "circled numbers",
        TEXT,
        "1. What causes the tides?\n① The wind ② The Moon ③ Whales ④ Rivers\nAnswer: ②\n",
        [(*TIDES, 1)],
    ),
    Page(
        "several right",
        TEXT,
        "1. Which are metals?\nA. Iron\nB. Wood\nC. Lead\nD. Glass\nAnswer: A, C\n\n"
        "2. Which number is a prime?\nA. 4\nB. 6\nC. 7\nD. 9\nAnswer: C\n",
        [("Which are metals?", ["Iron", "Wood", "Lead", "Glass"], None), (*SEVEN, 2)],
    ),
    Page(
        "superscripts",
        HTML,
        "<p>1. How large is 10<sup>3</sup>?</p><p>A. 10<sup>2</sup> · 10</p><p>B. 103</p><p>Answer: A</p>",
        [("How large is 10³?", ["10² · 10", "103"], 0)],
    ),
    Page(
        "code in spans",
        HTML,
        "<p>P1. What is x?</p><pre><code><i>if</i> <i>a</i>:\n    <i>x</i> = 1\n</code></pre>"
        "<p>A. 1</p><p>B. 2</p><p>Answer: A</p>",
        [("What is x? if a: x = 1", ["1", "2"], 0)],
    ),
    Page(
        "columns in a container, the answer behind the stem",
        MARKDOWN,
        "It is said.\n:::\n::: info 4. Which type has 1.5?(B)\nA float     B double\nC Float     D Double\n:::\n",
        [("Which type has 1.5?( )", ["float", "double", "Float", "Double"], 1)],
    ),
    Page(
        "an answer behind an option of two lines",
        TEXT,
        "1. What causes the tides?\nA. The wind\nB. The Moon\nC. Whales\nD. Rivers of\n   the sea [Ans: B]\n",
        [(TIDES[0], [*TIDES[1][:3], "Rivers of the sea"], 1)],
    ),
    Page(
        "a list of statements with an answer each",
        TEXT,
        "True or false?\n1. Iron is a metal. Answer: T\n2. Wood is one. Answer: F\n3. Lead is one. Answer: T\n",
        [],
    ),
    Page(
        "GIFT",
        TEXT,
        "::Q1:: What causes the tides? {\n~The wind\n=The Moon # It pulls.\n~Whales\n~Rivers\n}\n\n"
        "::Q2:: Which number is a prime? {\n~4\n~6\n=7\n~9\n}\n",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "code spans, formulas and unknown tags in Markdown",
        MARKDOWN,
        "#### Q1. Which is **not** Rust?\n\n- [ ] `<b>`\n- [x] \\*args\n- [ ] Vec<u8>\n- [ ] 0<p and p>q\n\n"
        "#### Q2. What is $a_1*b_1*c$?\n\n- [ ] __init__\n- [x] $x_1$ and $y_1$\n- [ ] <p>\n",
        [
            ("Which is not Rust?", ["`<b>`", "*args", "Vec<u8>", "0<p and p>q"], 1),
            ("What is $a_1*b_1*c$?", ["__init__", "$x_1$ and $y_1$", "<p>"], 1),
        ],
    ),
    Page(
        "fences of one line, of four ticks and with tildes in them",
        MARKDOWN,
        "#### 1. Which number is a prime?\n\n````md\n```\n~~~~^^\n````\n\n- A: 4\n- B: 6\n- C: 7\n- D: 9\n\n"
        "#### Answer: C\n\n```f = x => ({ a: x })```\n\n"
        "#### 2. What causes the tides?\n\n- A: The wind\n- B: The Moon\n- C: Whales\n- D: Rivers\n\n#### Answer: B\n",
        [("Which number is a prime? ``` ~~~~^^", SEVEN[1], 2), (*TIDES, 1)],
    ),
    Page(
        "options of several lines and of code, below a question without any",
        MARKDOWN,
        "#### Q1. Which is it?\n\n- [ ] ![A](a.png)\n- [x] ![B](b.png)\n\n#### Q2. Which number is a prime?\n\n"
        "- [ ] `4`<br>or 6\n- [x] 7\n      and 11\n- [ ]\n\n  ```js\n  8\n\n  9\n  ```\n\n",
        [("Which number is a prime?", ["`4` or 6", "7 and 11", "8\n9"], 1)],
    ),
    Page(
        "marks of labels in one line, and an answer below a button",
        HTML,
        "<div><p>1. What causes the tides?</p><label><input type=radio>The wind</label><label class=correct>"
        "<input type=radio>The Moon</label><label><input type=radio>Whales</label></div>"
        "<p>2. Which number is a prime?</p><p>A. 4</p><p>B. 7</p><details><summary>Show answer</summary>(B)</details>",
        [(TIDES[0], TIDES[1][:3], 1), (SEVEN[0], ["4", "7"], 1)],
    ),
    Page(
        "options with lists, remarks and code below them",
        MARKDOWN,
        "#### Q1. Which is it?\n\n- [x] Both:\n  - iron\n  - lead\n- [ ] none\n\n  No metal?\n\n- [ ] see\n\n"
        "```\na = 1\n```\n\n- [ ] wood\n\n#### Q2. Which ends?\n\n- A:\n\n  ```py\n  if x:\n\n      y()\n  ```\n\n- B:\n\n"
        "  ```py\n  exit()\n  ```\n\nAnswer: B\n",
        [
            ("Which is it?", ["Both: iron lead", "none", "see\na = 1", "wood"], 0),
            ("Which ends?", ["if x:\n    y()", "exit()"], 1),
        ],
    ),
    Page(
        "a list without letters, buttons, and an answer with a letter and the text",
        HTML,
        "<p>1) What causes the tides?</p><ol><li>The wind</li><li>The Moon</li><li>Whales</li><li>Rivers</li></ol>"
        "<button>Show Answer</button><button>Workspace</button><p><b>Answer:</b> (b) The Moon</p>",
        [(*TIDES, 1)],
    ),
    *(
        Page(
            f"round boxes in {kind}",
            kind,
            "What causes the tides?\n\n( ) The wind\n(x) The Moon\n( ) Whales\n( ) Rivers\n\n"
            "Which number is a prime?\n\n- ( ) 4\n- ( ) 6\n- (X) 7\n- ( ) 9\n",
            [(*TIDES, 1), (*SEVEN, 2)],
        )
        for kind in (TEXT, MARKDOWN)
    ),
    Page(
        "questions in tags of another language, below code",
        MARKDOWN,
        "<quiz>\nWhich number is a prime?\n- [ ] 4\n- [x] 7\n</quiz>\n\nThis tests it:\n```py\n7 % 2\n```\n\n"
        "<quiz>\nWhat causes the tides?\n- [ ] The wind\n- [x] The Moon\n</quiz>\n",
        [
            (SEVEN[0], ["4", "7"], 1),
            ("This tests it: 7 % 2 What causes the tides?", TIDES[1][:2], 1),
        ],
    ),
    Page(
        "options of code below letters and empty boxes",
        MARKDOWN,
        "1. Which adds one?\n\n- [ ]\n\n```py\nx = 1\n```\n\n- [x]\n\n```py\nif x:\n    x += 1\n```\n\n"
        "2. Which ends?\n\n- [ ] A\n\n```py\nx\n```\n\n- [x] B\n\n```py\nexit()\n```\n",
        [
            ("Which adds one?", ["x = 1", "if x:\n    x += 1"], 1),
            ("Which ends?", ["x", "exit()"], 1),
        ],
    ),
    Page(
        "signs at the ends of options in plain text",
        TEXT,
        "1. Which is a pointer?\nA. char *\nB. **kwargs\nC. a<b>c\nD. __x__\nAnswer: A\n\n"
        "2. Which counts?\nA. COUNT(*)\nB. a[x]\nC. ← key\nAnswer: COUNT(*)\n\n"
        "3. Which is right?\nA. __init__\nB. init\nC. *init\nAnswer: __init__\n\n"
        "4. Which is starred?\nA. *p\nB. p\n",
        [
            ("Which is a pointer?", ["char *", "**kwargs", "a<b>c", "__x__"], 0),
            ("Which counts?", ["COUNT(*)", "a[x]", "← key"], 0),
            ("Which is right?", ["__init__", "init", "*init"], 0),
            ("Which is starred?", ["*p", "p"], None),
        ],
    ),
    Page(
        "GIFT with printed letters",
        TEXT,
        "::Q1:: Which gas? {\n~%0%A) Oxygen\n~%0%C) Helium\n~%100%B) Neon\n}",
        [("Which gas?", ["Oxygen", "Helium", "Neon"], 2)],
    ),
    Page(
        "GIFT with comments, weights, feedback and escapes",
        TEXT,
        "\ufeff// made by hand\n$CATEGORY: sea\n\n::Q1::What causes the \\{tides\\}? {~%-50%The wind#no =%100%The Moon "
        "~a \\= b####It pulls.}\n\nTrue? {T}\n\nSpell it {=a =b}\n\nThe {~cat =dog} barks.\n\n"
        "[html]<p>Two of <b>three</b></p> {~%50%[plain]one ~%50%x &lt; 2 ~%-100%three}\n",
        [
            ("What causes the {tides}?", ["The wind", "The Moon", "a = b"], 1),
            ("The ____ barks.", ["cat", "dog"], 1),
            ("Two of three", ["one", "x < 2", "three"], None),
        ],
    ),
    Page(
        "code in braces is no GIFT",
        TEXT,
        "1. What is c after { a = ~b; c = ~a; }?\nA. b\nB. ~b\nAnswer: A\n",
        [("What is c after { a = ~b; c = ~a; }?", ["b", "~b"], 0)],
    ),
    Page(
        "Aiken",
        TEXT,
        "What is __init__?\nA. a*b*c\nB. <p and p>\nANSWER: B\n\nWhich number is a prime?\n"
        "A. 4\nB. 6\nC. 7\nD. 9\nANSWER: C",
        [("What is __init__?", ["a*b*c", "<p and p>"], 1), (*SEVEN, 2)],
    ),
    Page(
        "AMC as LaTeX",
        TEXT,
        "\\begin{question}{a}\\scoring{b=2}\nWhat causes the tides? % easy\n\\begin{choices}\n\\wrongchoice{The wind}\n"
        "\\correctchoice{The {\\em Moon}}\n\\end{choices}\n\\end{question}\n\\begin{question}{b}\nNone?\n"
        "\\begin{choices}\\wrongchoice{x}\\wrongchoice{y}\\end{choices}\n",
        [(TIDES[0], ["The wind", "The {\\em Moon}"], 1)],
    ),
    Page(
        "AMC as text",
        TEXT,
        "Title: seas\n\n* What causes the tides?\n- The wind\n+ The Moon\n- Whales\n- Rivers\n\n** Which are metals?\n"
        "+ Iron\n- Wood\n+ Lead",
        [(*TIDES, 1)],
    ),
    Page(
        "Moodle XML",
        "application/xml",
        '<?xml version="1.0"?><quiz><question type="category"/><question type="multichoice">'
        '<questiontext format="html"><text><![CDATA[<p>Which tag is <i>bold</i>?</p>]]></text></questiontext>'
        '<answer fraction="0"><text><![CDATA[<p>&lt;i&gt;</p>]]></text></answer><answer fraction="100" '
        'format="plain_text"><text>&lt;b&gt;</text><feedback><text>Yes</text></feedback></answer></question></quiz>',
        [("Which tag is bold?", ["<i>", "<b>"], 1)],
    ),
    Page(
        "radio buttons whose values judge them",
        HTML,
        "<p>1. Which gas?</p>"
        + "".join(
            f"<label><input type='radio' value='{value}'> {text}</label>"
            for value, text in (
                ("incorrect", "Oxygen"),
                ("correct", "Neon"),
                ("incorrect", "Helium"),
            )
        ),
        [("Which gas?", ["Oxygen", "Neon", "Helium"], 1)],
    ),
    Page(
        "classes of wrong options",
        HTML,
        "<p>1. Which gas?</p><ul><li class='option not-correct'>Oxygen</li><li class='option correct'>Neon</li></ul>",
        [("Which gas?", ["Oxygen", "Neon"], 1)],
    ),
    Page(
        "decimals as options, a letter with a reason as the answer",
        HTML,
        "<p>1. How long?</p><ol type='A'><li>1.5</li><li>2.5</li></ol><details><summary>Show Answer</summary>"
        "<p>B. Measured twice.</p></details>",
        [("How long?", ["1.5", "2.5"], 1)],
    ),
    Page(
        "boxes below instructions and statements",
        MARKDOWN,
        "#### Which gas?\n\n- [ ] Oxygen\n- [x] Neon\n\n#### Which metal?\n\nElija una respuesta.\n\n"
        "- [ ] Iron\n- [x] Lead\n\n#### Complete it: plants take in a gas.\n\n- [x] Helium\n- [ ] Argon\n",
        [
            ("Which gas?", ["Oxygen", "Neon"], 1),
            ("Which metal?", ["Iron", "Lead"], 1),
            ("Complete it: plants take in a gas.", ["Helium", "Argon"], 0),
        ],
    ),
    Page(
        "numbers in the stem of a list item",
        HTML,
        "<ol><li>Solve 2(y - 3) = 4 for y.<br>A. 4<br>B. 5<br>Answer: B</li></ol>",
        [("Solve 2(y - 3) = 4 for y.", ["4", "5"], 1)],
    ),
    *(
        Page(
            f"the word {word}",
            MARKDOWN,
            f"###### 1. 1 + 1?\n\n- A: 2\n- B: 3\n\n<details><summary><b>{word}</b></summary>\n<p>\n\n#### {word}: A\n\n"
            "It counts.\n\n</p>\n</details>\n",
            [("1 + 1?", ["2", "3"], 0)],
        )
        for word in ("答え", "정답", "Đáp án", "Jawaban", "الإجابة", "คำตอบ", "Відповідь", "उत्तर")
    ),
    *(
        Page(
            f"options that are singled out by {name}",
            HTML,
            f"<p>1. What causes the tides?</p><ul><li>The wind<li>{right.format('The Moon')}<li>Whales<li>Rivers</ul>"
            f"<p>2. Which number is a prime?</p><ul><li>4<li>6<li>{right.format('7')}<li>9</ul>",
            [(*TIDES, 1), (*SEVEN, 2)],
        )
        for name, right in (
            ("a star", "{} *"),
            ("a check mark", "{} ✓"),
            ("a word", "{} (Correct)"),
            ("colour", "<span style='color:green'>{}</span>"),
            ("bold", "<b>{}</b>"),
            ("italics", "<i>{}</i>"),
        )
    ),
    Page(
        "reasons before the answer",
        TEXT,
        "What causes the tides?\nA.The wind\nB.The Moon\nC.Whales\nD.Rivers\n"
        "정답: 차근 차근 생각해봅시다. (A) 아닙니다. (B) 맞습니다. (C) 아닙니다. 따라서, 정답은 (B) 입니다.\n\n"
        "Q: Numbers:\nOptions:\n(A) 4\n(B) 6\n(C) 7\n(D) 9\nA: Let's see.\n(A) 4 is 2 · 2.\nIs it 7?\nThe answer is (C).\n\n"
        "Q: Which metal is liquid at room temperature?\n(A) Iron (B) Mercury (C) Lead (D) Zinc\nA: So the answer is (B).\n",
        [(*TIDES, 1), ("Numbers:", *SEVEN[1:], 2), (*METAL, 1)],
    ),
    Page(
        "a key in the order of the questions, with reasons",
        TEXT,
        "Q1. What causes the tides?\n- A) The wind\n- B) The Moon\n- C) Whales\n- D) Rivers\n"
        "Q2. Which number is a prime?\n- A) 4\n- B) 6\n- C) 7\n- D) 9\n"
        "Answer key\nClick to reveal answers\n- B — it pulls\n- C — it has no divisors\n",
        [(*TIDES, 1), (*SEVEN, 2)],
    ),
    Page(
        "Arabic letters in a line",
        MARKDOWN,
        "### السؤال 1\n\nما هو؟\nأ) الريح ب) القمر ج) الحيتان\n**الإجابة الصحيحة: ب**\n",
        [("ما هو؟", ["الريح", "القمر", "الحيتان"], 1)],
    ),
    Page(
        "a menu", HTML, "<nav><ul><li>A. Home</li><li>B. News</li><li>C. About</li></ul></nav>", []
    ),
    Page(
        "a contents page",
        TEXT,
        "1. What is a tide?\nA. Ebb ........ 3\nB. Flood ...... 7\nC. Spring .... 9\n",
        [],
    ),
    Page(
        "a dialogue",
        TEXT,
        "What did you see?\nA: The sea.\nB: The Moon.\nC: Both of them.\n\nThen we went home.\n",
        [],
    ),
    Page(
        "a task list",
        MARKDOWN,
        "## Release\n\n- [x] write notes\n- [x] tag\n- [ ] publish\n",
        [],
    ),
]
