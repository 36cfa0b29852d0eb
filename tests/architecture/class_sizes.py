"""Reads C++ classes far enough to count their functions and fields: no compiler, no preprocessor."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'')
TYPE = re.compile(r"\b(class|struct)\s+(\w+)(?:\s+final)?\s*(?::[^;(){}]*)?\{")
PRIVATE = re.compile(r"\b(?:private|protected)\s*:(?!:)")
NO_MEMBER = re.compile(r"^(using|friend|typedef|static_assert|enum|union|(class|struct)\s+\w+$)")


def past_braces(text, opening):
    """The position after the brace that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("unbalanced braces")


def members(body):
    """The declarations of a class body, without the bodies of functions and nested types."""
    declaration, place = "", 0
    while place < len(body):
        char = body[place]
        if char == ";":
            yield declaration
            declaration = ""
        elif char == "{":
            place = past_braces(body, place)
            # A function ends with its body, but for initialisers like a_{1} in a constructor's list.
            follows = body[place:].lstrip()[:1]
            if "(" in declaration.split("=")[0] and follows not in {",", "{"}:
                yield declaration
                declaration = ""
                if follows == ";":
                    place = body.index(";", place) + 1
            continue
        else:
            declaration += char
        place += 1


def size(body):
    functions = fields = 0
    for declaration in members(body):
        declaration = re.sub(r"\b(public|private|protected)\s*:(?!:)", "", declaration).strip()
        declaration = re.sub(r"^template\s*<[^>]*>\s*", "", declaration)
        if not declaration or NO_MEMBER.match(declaration) or declaration.endswith("delete"):
            continue
        if "(" in declaration.split("=")[0] or "operator" in declaration:
            functions += 1
        elif not re.match(r"(inline )?static constexpr\b", declaration):
            fields += 1 + re.sub(r"<.*>|\(.*?\)", "", declaration).count(",")
    return functions, fields


def class_sizes(source, records=True):
    """(name, functions, fields) of each class of a source text, nested ones too. With `records` a struct that hides
    nothing counts no fields: it owns no state, it says several figures of one thing."""
    text = LITERAL.sub('""', COMMENT.sub("", source))
    for match in TYPE.finditer(text):
        if re.search(r"\benum\s+$", text[:match.start()]):
            continue
        body = text[match.end():past_braces(text, match.end() - 1) - 1]
        functions, fields = size(body)
        is_record = records and match[1] == "struct" and not PRIVATE.search(body)
        yield match[2], functions, 0 if is_record else fields
