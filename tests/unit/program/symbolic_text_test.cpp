// Texts that are canonical already, and others with the canonical text they become.
#include <gtest/gtest.h>

#include "reshard/program_text.h"

using namespace reshard;

namespace {

struct Golden {
  const char* what;
  const char* text;
};

const Golden kGoldens[] = {
    {"the first all-to-all", R"(program all_to_all
size n = 64
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
init x[d, j] = me * 1000000 + d * 1000 + j
expect y[s, j] = x@s[me, j]

for d in 0..P { put data@d[me] <- x[d] }
fence
for p in peers { notify ready@p[me] = 1 }
for s in peers { wait ready[s] >= 1 }
for s in 0..P { copy y[s] <- data[s] }
)"},
    {"a ring", R"(program ring
size n = 5
input x : i64[n]
output y : i64[n]
window data : i64[P, n]
signal came[P] : epoch
expect y[j] = sum(s in 0..P, x@s[j])

let right = (me + 1) % P
copy data[me] <- x
for k in 0..P - 1 {
  put data@right[(me - k) % P] <- data[(me - k) % P]
  fence
  notify came@right[k] = call
  wait came[k] >= call
}
fill y <- identity(sum)
for s in 0..P { reduce y <- sum(y, data[s]) }
)"},
    {"blocks in blocks", R"(program blocks
signal s[P, 2]

for i in 0..P {
  if i == me {
    for j in i + 1..P { notify s@j[i, 0] += -1 }
    # nothing
  } else {
    if !(i < 2 && me != 0) || call % 2 == 1 { wait s[i, 1] == -i } else { fence }
  }
}
for i in 0..0 { }
if P > 1 { } else { fence }
if P > 2 {
  # only this
}
)"},
    {"names and refusals", R"(program refusals
size n = -4
window w : u8[max(n, 3), min(n, pick(me, 1, 2, 3))]

let a = -9223372036854775808
let b = 9223372036854775807 - a
require a <= b && n != -4, "n is {n}, not \"{a - -1}\"\n\\\t{w[0, 1]} {"
)"},
    {"loops over what memory says", R"(program counted
size m = 4
input counts : i32[P]
input x : f32[P, m]
window data : f32[P, m]

for d in 0..P {
  for j in 0..counts[d] { put data@d[me, j] <- x[d, j] }
  put data@d[me, 0..counts[d]] <- x[d, 0..counts[d]]
}
put data@counts[0][me] <- x[counts[counts[1]]]
)"},
    {"a composite", R"(program composite
size n = 3
input x : f32[P, n]
window data : f32[P, n]
signal ready[P] : credits-2

all_to_all(input = x, target = data, signal = ready, protocol = credits-2)
other(op = sum, rows = n - 1, of = x[me, 0..n], at = (x[0, 0]), twice = x[0, 0] * 2, note = "n", say = "two words")
barrier()
)"},
    {"views and attributes", R"(program declared
size n = 8
window w : u8[n]
local scalar : f8e4m3[]
view half : f16[n / 4] of w at n / 2
view quarter : bf16[n / 8] of half
signal s[] : 16 bits
signal t[2, P] : 8 bits, parity, starts i1 == 0
signal u[P] : credits-1
init w[i] = me if i < 4
init w[i] = -1 if i >= 4
init scalar = 3
expect half[k] = max(s2 in 0..P, min(j in 0..n, w@s2[j] - w@(P - 1 - s2)[j])) if k > 0 || scalar[] == 3

notify s@(me + 1) = 1
wait s >= 1
wait t[0, 1] == 255
put w@max(me - 1, 0) <- w cast
)"},
    {"comments", R"(# what it is
#
#   indented
program comments
# of the size
# in two lines
size n = 1

# first
fence
# last
)"},
};

TEST(SymbolicText, CanonicalTextsStayAsTheyAre) {
  for (const Golden& golden : kGoldens) EXPECT_EQ(text_of(parse_program(golden.text)), golden.text) << golden.what;
}

struct Loose {
  const char* what;
  const char* body;
  const char* canonical;
};

// In a program with size n, inputs x[P, n] and c[P], and signal s[P].
const Loose kLoose[] = {
    {"space and line ends", "\r\n\n  fence\t\r\n\n\nfence", "fence\nfence\n"},
    {"lines inside parentheses", "put x@(me +\n 1)[me,\n0 ..  n]<-x", "put x@(me + 1)[me, 0..n] <- x\n"},
    {"needless parentheses", "notify s[((me))] = (1 + (2 * 3)) - (4)", "notify s[me] = 1 + 2 * 3 - 4\n"},
    {"needed parentheses", "notify s[me] = 1 - (2 - 3) * -(4 % (5 / 6))",
     "notify s[me] = 1 - (2 - 3) * -(4 % (5 / 6))\n"},
    {"signs", "notify s[0]+=- 2\nnotify s[0]=1--1\nnotify s[0] = - -1\nnotify s[0] = !-me",
     "notify s[0] += -2\nnotify s[0] = 1 - -1\nnotify s[0] = --1\nnotify s[0] = !-me\n"},
    {"the least number", "notify s[0] = -9223372036854775808 + 0009223372036854775807",
     "notify s[0] = -9223372036854775808 + 9223372036854775807\n"},
    {"whole dimensions at the end", "copy x[0, ..] <- x[.., ..]\ncopy x[.., 0] <- x[]",
     "copy x[0] <- x\ncopy x[.., 0] <- x\n"},
    {"one statement in a block", "for d in 0..P {\n\n fence\n}\nif 1 {\n fence }",
     "for d in 0..P { fence }\nif 1 { fence }\n"},
    {"two blocks", "if 1 { fence } else {\nfence\nfence\n}", "if 1 {\n  fence\n} else {\n  fence\n  fence\n}\n"},
    {"an empty else", "if 1 { fence } else { }", "if 1 { fence }\n"},
    {"comments behind", "fence #one\nput x <- x[ #two\n] # three\nfor d in peers { # four\nfence } # five\n#",
     "# one\nfence\n# two\n# three\nput x <- x\n# five\nfor d in peers {\n  # four\n  fence\n}\n#\n"},
    {"words that are variables elsewhere", "f(a = d, b = s)\nfor d in 0..1 { f(a = d, b = \"s\") }",
     "f(a = \"d\", b = s)\nfor d in 0..1 { f(a = d, b = s) }\n"},
    {"numbers and slices of arguments",
     "f(a=c,b=(c[0]),c=c[0],d=c[0]+1,e=\"c\",f=me,g=\"me\",h=-1,i=call,j=sum,k=credits-1)",
     "f(a = c, b = (c[0]), c = c[0], d = c[0] + 1, e = \"c\", f = me, g = \"me\", h = -1, i = call, j = sum, "
     "k = credits-1)\n"},
    {"a name again in another block", "for d in 0..1 { let e = d }\nfor d in 0..1 { let e = d }\nlet d = 1\nlet e = d",
     "for d in 0..1 { let e = d }\nfor d in 0..1 { let e = d }\nlet d = 1\nlet e = d\n"},
};

TEST(SymbolicText, LooseTextsBecomeCanonical) {
  const std::string head = "program loose\nsize n = 2\ninput x : f32[P, n]\ninput c : i32[P]\nsignal s[P]\n\n";
  for (const Loose& loose : kLoose) {
    const std::string text = text_of(parse_program(head + loose.body));
    EXPECT_EQ(text, head + loose.canonical) << loose.what;
    EXPECT_EQ(text_of(parse_program(text)), text) << loose.what;
  }
}

TEST(SymbolicText, DeclarationsAreSortedByKind) {
  EXPECT_EQ(text_of(parse_program(R"(program sorted  # a head
signal s[P]: starts 1, epoch
# x
input x : f32[ 2 ]
init x[j] = j   # a rule
view v : f16[4] of x
size n = 3
window w : f32[n]
)")),
            R"(# a head
program sorted
size n = 3
# x
input x : f32[2]
window w : f32[n]
view v : f16[4] of x
signal s[P] : epoch, starts 1
# a rule
init x[j] = j
)");
}

TEST(SymbolicText, StatementsAreQuotedAlone) {
  const SymbolicProgram read = parse_program("program one\nwindow w : f32[2]\nfor d in peers { put w@d[0] <- w[1] }");
  EXPECT_EQ(text_of(read.body.at(0)), "for d in peers { put w@d[0] <- w[1] }");
  EXPECT_EQ(text_of(std::get<DataMove>(std::get<For>(read.body.at(0).form).body.at(0).form).target), "w@d[0]");
}

TEST(SymbolicText, ViewsHaveTheRoleOfWhatTheyView) {
  const SymbolicProgram read =
      parse_program("program v\ninput x : f32[2]\nview a : u8[8] of x\nview b : u8[4] of a at 4");
  EXPECT_EQ(read.buffer("b")->role, BufferRole::input);
  EXPECT_EQ(read.buffer("b")->viewed, "a");
  EXPECT_EQ(read.buffer("c"), nullptr);
  EXPECT_EQ(read.signal("x"), nullptr);
}

TEST(SymbolicText, ExpressionsAreReadAlone) {
  EXPECT_EQ(parse_expression("counts[d + 1] * n").text(), "counts[d + 1] * n");
  EXPECT_EQ(parse_expression("c").kind(), Expression::Kind::variable);
  EXPECT_EQ(parse_expression("c[]").kind(), Expression::Kind::element);
}

}  // namespace
