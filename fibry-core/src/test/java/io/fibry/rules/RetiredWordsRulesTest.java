package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that code uses the words of {@code docs/words.md}, and that all texts have American
 * spelling. The last column of that document has words that the project does not use for an idea.
 * The test counts identifiers that are such words, and a count may only become smaller.
 */
class RetiredWordsRulesTest {
  /** Words of the last column that the JDK or the field uses for another idea. */
  private static final Set<String> ALLOWED = Set.of("activity", "backend", "batch", "carrier", "choice",
      "default", "dump", "encoding", "end", "engine", "execution", "export", "flush", "force", "generation",
      "iteration", "lease", "lock", "migration", "network", "repair", "repository", "schedule", "schema", "share",
      "status", "term", "time", "timer", "transaction", "type", "until", "version", "waiting", "watch", "writer",
      "asked", "recover",
      "dispatcher", "letter", "part", "once");
  /** Everyday words for which the field has a term. */
  private static final Set<String> EVERYDAY = Set.of("what", "kept", "most", "least", "longest", "told", "room",
      "figures", "gone", "ring", "looks", "far", "aside", "trouble", "anew", "doubles", "human");
  /**
   * For each word, how many identifiers in the libraries are this word. When a smaller number is
   * reached, write it here.
   */
  private static final Map<String, Integer> COUNTS =
      Map.ofEntries(Map.entry("gone", 13), Map.entry("leaving", 8), Map.entry("place", 4),
          Map.entry("sign", 1), Map.entry("what", 2), Map.entry("why", 7));
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_]\\w*");
  private static final Pattern BRITISH = Pattern.compile("(?i)(?:behaviour|colour|neighbour|honour|favour(?!ite)"
      + "|initialis|serialis|recognis|organis|normalis|optimise|catalogue|artefact|centre)");

  @Test
  void retiredWordsInIdentifiersMatchListedCounts() throws IOException {
    var retired = retired();
    var counts = new TreeMap<String, Integer>();
    var paths = new TreeMap<String, List<String>>();
    Repository.libraryCode().forEach((path, code) -> IDENTIFIER.matcher(code).results().forEach(match -> {
      String word = match.group().toLowerCase(Locale.ROOT);
      if (!retired.contains(word)) return;
      counts.merge(word, 1, Integer::sum);
      paths.computeIfAbsent(word, key -> new ArrayList<>()).add(path);
    }));
    assertEquals(new TreeMap<>(COUNTS), counts, () -> "use the word of docs/words.md; the present uses: " + paths);
  }

  private static Set<String> retired() throws IOException {
    var wordsInUse = new TreeSet<String>();
    var retired = new TreeSet<>(EVERYDAY);
    var words = Files.readString(Repository.ROOT.resolve("docs/words.md")).split("## Ideas")[1];
    for (var line : words.lines().toList()) {
      var cells = line.split("\\|", -1);
      if (cells.length != 5 || cells[1].contains("---") || cells[1].strip().equals("word")) continue;
      wordsInUse.add(cells[1].strip());
      Stream.of(cells[3].split(",")).map(String::strip).filter(word -> word.matches("[a-z]+")).forEach(retired::add);
    }
    retired.removeAll(wordsInUse);
    retired.removeAll(ALLOWED);
    return retired;
  }

  @Test
  void filesContainNoBritishSpelling() throws IOException {
    var violations = new ArrayList<String>();
    for (var file : Repository.files(".java", ".kt", ".md", ".xml", ".html", ".yml")) {
      if (file.endsWith("RetiredWordsRulesTest.java")) continue;
      BRITISH.matcher(Files.readString(file)).results()
          .forEach(match -> violations.add(Repository.ROOT.relativize(file) + ": " + match.group()));
    }
    assertEquals("", String.join("\n", violations));
  }
}
