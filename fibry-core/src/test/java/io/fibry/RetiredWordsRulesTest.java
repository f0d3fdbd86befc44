package io.fibry;

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
 * The last column of {@code docs/words.md} has words that the project does not use for an idea. The
 * uses of such words as identifiers are counted, and a count may only become smaller. The project
 * writes American English.
 */
class RetiredWordsRulesTest {
  /** Words of that column that are right for another idea, in the JDK or in the field. */
  private static final Set<String> RIGHT_ELSEWHERE = Set.of("activity", "backend", "batch", "carrier", "choice",
      "default", "dump", "encoding", "end", "engine", "execution", "export", "flush", "force", "generation",
      "iteration", "lease", "lock", "migration", "network", "repair", "repository", "schedule", "schema", "share",
      "status", "term", "time", "timer", "transaction", "type", "until", "version", "waiting", "watch", "writer",
      "asked", "recover",
      "dispatcher", "letter", "part", "once");
  /** Everyday words for which the field has a name. */
  private static final Set<String> EVERYDAY = Set.of("what", "kept", "most", "least", "longest", "told", "room",
      "figures", "gone", "ring", "looks", "far", "aside", "trouble", "anew", "doubles", "human");
  /**
   * Uses of a word as an identifier in the libraries. Write a smaller number when it is reached.
   */
  private static final Map<String, Integer> COUNTS =
      Map.ofEntries(Map.entry("gone", 13), Map.entry("here", 22), Map.entry("how", 2),
          Map.entry("leaving", 8), Map.entry("most", 4), Map.entry("place", 4),
          Map.entry("ring", 2), Map.entry("sign", 1), Map.entry("what", 4), Map.entry("why", 9));
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_]\\w*");
  private static final Pattern BRITISH = Pattern.compile("(?i)\\w*(?:behaviour|colour|neighbour|honour|favour(?!ite)"
      + "|initialis|serialis|recognis|organis|normalis|optimise|catalogue|artefact|centre)\\w*");

  @Test
  void identifiersTakeTheWordsOfTheProject() throws IOException {
    var retired = retired();
    var found = new TreeMap<String, Integer>();
    var places = new TreeMap<String, List<String>>();
    Repository.libraryCode().forEach((path, code) -> IDENTIFIER.matcher(code).results().forEach(match -> {
      String word = match.group().toLowerCase(Locale.ROOT);
      if (!retired.contains(word)) return;
      found.merge(word, 1, Integer::sum);
      places.computeIfAbsent(word, none -> new ArrayList<>()).add(path);
    }));
    assertEquals(new TreeMap<>(COUNTS), found, () -> "take the word of docs/words.md; the present uses: " + places);
  }

  private static Set<String> retired() throws IOException {
    var used = new TreeSet<String>();
    var retired = new TreeSet<>(EVERYDAY);
    var words = Files.readString(Repository.ROOT.resolve("docs/words.md")).split("## Ideas")[1];
    for (var line : words.lines().toList()) {
      var cells = line.split("\\|", -1);
      if (cells.length != 5 || cells[1].contains("---") || cells[1].strip().equals("word")) continue;
      used.add(cells[1].strip());
      Stream.of(cells[3].split(",")).map(String::strip).filter(word -> word.matches("[a-z]+")).forEach(retired::add);
    }
    retired.removeAll(used);
    retired.removeAll(RIGHT_ELSEWHERE);
    return retired;
  }

  @Test
  void spellingIsAmerican() throws IOException {
    var found = new ArrayList<String>();
    for (var file : Repository.files(".java", ".kt", ".md", ".xml", ".html", ".yml")) {
      if (file.endsWith("RetiredWordsRulesTest.java")) continue;
      BRITISH.matcher(Files.readString(file)).results()
          .forEach(match -> found.add(Repository.ROOT.relativize(file) + ": " + match.group()));
    }
    assertEquals("", String.join("\n", found));
  }
}
