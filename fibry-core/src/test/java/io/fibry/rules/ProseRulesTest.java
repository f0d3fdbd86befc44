package io.fibry.rules;

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
 * Finds sentences that are hard to read, by patterns, in the comments of all modules and in the
 * documents, except for the benchmark pages. The number of such sentences of each module may only
 * become smaller.
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
  private static final int MAX_WORDS = 40; // of a sentence
  private static final Pattern WORD = Pattern.compile("[A-Za-z'`]+");
  private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?}])\\s+(?=[A-Z`*({])");

  /**
   * The maximum number of sentences that break a rule. When a smaller number is reached, write it
   * here.
   */
  private static final Map<String, Integer> MAX_COUNTS = Map.ofEntries(
      Map.entry("code of fibry-cluster", 4),
      Map.entry("code of fibry-core", 11),
      Map.entry("code of fibry-durable", 1),
      Map.entry("code of fibry-simulation", 2),
      Map.entry("documents of integrations/fibry-dashboard", 1),
      Map.entry("tests of fibry-simulation", 1));

  @Test
  void ruleBreakingSentencesMatchListedCounts() {
    var sentencesByPart = new TreeMap<String, List<String>>();
    for (var file : Repository.files(".java", ".kt", ".md")) {
      String path = Repository.ROOT.relativize(file).toString().replace('\\', '/');
      if (path.contains("/resources/") || path.startsWith("docs/benchmarks")) continue;
      var sentences = sentencesByPart.computeIfAbsent(part(path), key -> new ArrayList<>());
      for (var sentence : sentences(paragraphs(file)))
        brokenRule(sentence).ifPresent(rule -> sentences.add(path + ": " + rule + ": " + sentence));
    }

    var errors = new ArrayList<String>();
    sentencesByPart.forEach((part, sentences) -> {
      int max = MAX_COUNTS.getOrDefault(part, 0);
      if (sentences.size() > max)
        errors.add(part + " has " + sentences.size() + " sentences that break a rule, and may have " + max + ":\n  "
            + String.join("\n  ", sentences));
      if (sentences.size() < max)
        errors.add(part + " has only " + sentences.size() + "; write this number in MAX_COUNTS");
    });
    assertEquals("", String.join("\n", errors));
  }

  private static String part(String path) {
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
      boolean startsParagraph = part.isBlank() || document && !part.equals(line)
          || !document && (part.startsWith("<p>") || part.startsWith("@") || !line.strip().matches("(//|\\*|/\\*).*"));
      if (startsParagraph && !current.isEmpty()) {
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
    var lineMatcher = COMMENT.matcher(line);
    if (lineMatcher.matches()) return lineMatcher.group(1);
    var trailingMatcher = TRAILING.matcher(line);
    return trailingMatcher.matches() ? trailingMatcher.group(1) : "";
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<String> sentences(List<String> paragraphs) {
    return paragraphs.stream().flatMap(SENTENCE_END::splitAsStream)
        .map(sentence -> sentence.replaceAll("\\{@\\w+ ([^}]*)\\}?", "$1").replaceAll("`[^`]*`", "x").strip())
        .filter(sentence -> sentence.split(" ").length > 2).toList();
  }

  /** {@return the first rule that a sentence breaks} */
  private static Optional<String> brokenRule(String sentence) {
    String text = sentence.replaceFirst("^[*_ ]+", "");
    if (WORD.matcher(text).results().count() > MAX_WORDS) return Optional.of("more than " + MAX_WORDS + " words");
    return RULES.entrySet().stream().filter(rule -> rule.getValue().matcher(text).find()).map(Map.Entry::getKey)
        .sorted().findFirst();
  }

  @Test
  void rulesFindOnlyBadSentences() {
    for (var badSentence : List.of("What the actor waits for is shown.", "It takes one that has ended.",
        "Of the actor's thread.",
        "Null: no handler runs.", "Answers whether it ended.", "A node that stands still is lost.",
        "A minute unless told otherwise.", "Here nobody waits for it."))
      assertTrue(brokenRule(badSentence).isPresent(), badSentence);
    for (var goodSentence : List.of("Returns the message for which the actor waits.", "A paused node is declared dead.",
        "It is null if no handler runs.", "It is a minute by default."))
      assertEquals(Optional.empty(), brokenRule(goodSentence), goodSentence);
  }
}
