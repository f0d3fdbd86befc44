package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Sentences that a reader has to read twice, as far as patterns find them: in comments of all
 * modules and in documents. Each place has a number of such sentences that may only become smaller.
 */
class ProseRulesTest {
  private static final Map<String, Pattern> RULES = Map.of(
      "a clause with 'what' as its subject or object",
      Pattern.compile("(^|[.:;,(] )[Ww]hat(ever)? (?!a |an |is the |does|if|for )[a-z`]+"),
      "a pronoun in place of a noun",
      Pattern.compile("\\b(one|those|none|this one|that one) (that|which|whose)\\b"
          + "|\\b(those|none|this one|that one) of\\b|\\bso (is|are|does|do) (one|those|the)\\b"),
      "a first word that hides the subject", Pattern.compile("^(Of|By|To|From|Not|Else|Also|Then|As) "),
      "a reference to another sentence",
      Pattern.compile("\\b[Ll]ikewise\\b|\\bas (above|there|before it)\\b|\\bThe same\\b"
          + "|^(Null|Empty|False|True|None|0|-1):"),
      "'answers' in place of 'returns'",
      Pattern.compile("\\b[Aa]nswers? (whether|what|which|the|a|an|how|null|true|false|those|it)\\b"),
      "a private word in place of the field's word",
      Pattern.compile("\\bstands? still\\b|\\bfor gone\\b|\\bwithout a word\\b|\\b(put|is|are|was|were) aside\\b"
          + "|\\bon (its|their) way\\b|\\btaken (away|back)\\b|\\bhome to\\b|\\banew\\b|\\bdoubles\\b"
          + "|\\bof (no )?use\\b|\\bgo(es)? on\\b|\\bgone on\\b|\\bsigns? of life\\b|\\bnobody waits for\\b"),
      "a condition without its verb", Pattern.compile("\\b(unless|if) told\\b|\\b(unless|if) (it|they) says?\\b"),
      "nobody or nothing as a subject",
      Pattern.compile("(^|[.:;,] )([Nn]obody|[Ss]omebody|[Nn]othing|[Nn]one|[Ww]ho|[Ww]hoever) [a-z]+"));
  private static final int WORDS = 40; // more in one sentence are too many
  private static final Pattern WORD = Pattern.compile("[A-Za-z'`]+");
  private static final Pattern END = Pattern.compile("(?<=[.!?}])\\s+(?=[A-Z`*({])");

  /**
   * The number of sentences that break a rule, at most. Write a smaller number here when it is
   * reached.
   */
  private static final Map<String, Integer> AT_MOST = Map.ofEntries(
      Map.entry("code of fibry-cluster", 5),
      Map.entry("code of fibry-core", 14),
      Map.entry("code of fibry-durable", 5),
      Map.entry("code of fibry-simulation", 3),
      Map.entry("code of integrations/fibry-nats", 1),
      Map.entry("documents of integrations/fibry-dashboard", 1),
      Map.entry("tests of examples", 1),
      Map.entry("tests of fibry-cluster", 2),
      Map.entry("tests of fibry-core", 10),
      Map.entry("tests of fibry-durable", 2),
      Map.entry("tests of fibry-proof", 5),
      Map.entry("tests of fibry-simulation", 1),
      Map.entry("tests of integrations/fibry-kotlin", 1),
      Map.entry("tests of integrations/fibry-micrometer", 1),
      Map.entry("tests of integrations/fibry-nats", 3));

  @Test
  void ruleBreakingSentencesMatchListedCounts() {
    var found = new TreeMap<String, List<String>>();
    for (var file : Repository.files(".java", ".kt", ".md")) {
      String path = Repository.ROOT.relativize(file).toString().replace('\\', '/');
      if (path.contains("/resources/") || path.startsWith("docs/benchmarks")) continue;
      var broken = found.computeIfAbsent(place(path), none -> new ArrayList<>());
      for (var sentence : sentences(paragraphs(file)))
        broken(sentence).ifPresent(rule -> broken.add(path + ": " + rule + ": " + sentence));
    }

    var wrong = new ArrayList<String>();
    found.forEach((place, broken) -> {
      int most = AT_MOST.getOrDefault(place, 0);
      if (broken.size() > most)
        wrong.add(place + " has " + broken.size() + " sentences that break a rule, and may have " + most + ":\n  "
            + String.join("\n  ", broken));
      if (broken.size() < most) wrong.add(place + " has only " + broken.size() + ", so write that here");
    });
    assertEquals("", String.join("\n", wrong));
  }

  private static String place(String path) {
    var folders = path.split("/");
    String module = folders[0].equals("integrations") && folders.length > 2 ? folders[0] + "/" + folders[1]
        : folders.length == 1 ? "the root" : folders[0];
    if (!path.endsWith(".md")) return (path.contains("/src/test/") ? "tests of " : "code of ") + module;
    return "documents of " + (path.startsWith("docs/") && folders.length > 2 ? "docs/" + folders[1] : module);
  }

  // ---- sentences

  private static List<String> paragraphs(Path file) {
    boolean document = file.toString().endsWith(".md");
    var paragraphs = new ArrayList<String>();
    var current = new StringBuilder();
    boolean fenced = false;
    for (var line : lines(file)) {
      if (document && line.strip().startsWith("```")) fenced = !fenced;
      boolean text = !document || !fenced && !line.strip().matches("([|#]|<!--|!\\[|```).*|");
      var part = !text ? "" : document ? line.replaceFirst("^\\s*(?:[*-]|\\d+\\.)\\s+", "") : comment(line);
      boolean begins = part.isBlank() || document && !part.equals(line)
          || !document && (part.startsWith("<p>") || part.startsWith("@") || !line.strip().matches("(//|\\*|/\\*).*"));
      if (begins && !current.isEmpty()) {
        paragraphs.add(current.toString().strip());
        current.setLength(0);
      }
      if (part.contains("{@snippet") || part.contains("@start ") || part.contains("@end")) continue;
      current.append(' ').append(part.strip().replaceFirst("^(<p>|@(param|throws)\\s+\\S+|@return)\\s*", ""));
    }
    paragraphs.add(current.toString().strip());
    return paragraphs;
  }

  private static final Pattern COMMENT = Pattern.compile("\\s*(?://|/\\*\\*|\\*(?!/)|/\\*)\\s?(.*?)(?:\\*/)?\\s*");
  private static final Pattern TRAILING = Pattern.compile(".*[;{}),] // (.*)");

  /** {@return the comment in a line of code, or an empty text} */
  private static String comment(String line) {
    var whole = COMMENT.matcher(line);
    if (whole.matches()) return whole.group(1);
    var trailing = TRAILING.matcher(line);
    return trailing.matches() ? trailing.group(1) : "";
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static List<String> sentences(List<String> paragraphs) {
    return paragraphs.stream().flatMap(END::splitAsStream)
        .map(sentence -> sentence.replaceAll("\\{@\\w+ ([^}]*)\\}?", "$1").replaceAll("`[^`]*`", "x").strip())
        .filter(sentence -> sentence.split(" ").length > 2).toList();
  }

  /** {@return the first rule that a sentence breaks} */
  private static Optional<String> broken(String sentence) {
    String text = sentence.replaceFirst("^[*_ ]+", "");
    if (WORD.matcher(text).results().count() > WORDS) return Optional.of("more than " + WORDS + " words");
    return RULES.entrySet().stream().filter(rule -> rule.getValue().matcher(text).find()).map(Map.Entry::getKey)
        .sorted().findFirst();
  }

  @Test
  void onlyBrokenSentencesAreFound() {
    for (var bad : List.of("What the actor waits for is shown.", "It takes one that has ended.",
        "Of the actor's thread.",
        "Null: no handler runs.", "Answers whether it ended.", "A node that stands still is lost.",
        "A minute unless told otherwise.", "Here nobody waits for it."))
      assertTrue(broken(bad).isPresent(), bad);
    for (var good : List.of("Returns the message for which the actor waits.", "A paused node is declared dead.",
        "It is null if no handler runs.", "It is a minute by default."))
      assertEquals(Optional.empty(), broken(good), good);
  }
}
