package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that the decision records have one form, and name only types and members that exist. */
class DecisionRecordsTest {
  private static final Path RECORDS = Repository.ROOT.resolve("docs/adr");
  private static final Pattern FORM = Pattern.compile("(?s)# \\d+\\. [^\n]+\n\n"
      + "\\*\\*Status\\.\\*\\* (?:Accepted|Replaced by \\[ADR \\d+\\]\\([^)]+\\)), \\d{4}-\\d\\d-\\d\\d[.;].*?"
      + "\n\\*\\*Context\\.\\*\\* .*?\n\\*\\*Decision[.,].*?(?:\n\\*\\*Consequences\\.\\*\\* .*?)?"
      + "(?:\n\\*\\*Refused\\.\\*\\* .*)?");
  /**
   * Matches the name of a type, and the member that may follow it. A name with a hyphen does not
   * match, because it is an HTTP header.
   */
  private static final Pattern REFERENCE =
      Pattern.compile("`@?([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?![A-Za-z0-9-])(?:\\.(\\w+))?[^`]*`");
  private static final Pattern DECLARATION =
      Pattern.compile("\\b(?:class|interface|record|enum|object) ([A-Z][A-Za-z0-9]*)");

  /** Names of types and annotations of other libraries, and words that look like types. */
  private static final Set<String> OTHER_NAMES = Set.of("SmartLifecycle", "Dispatchers", "JsonProperty", "JvmRecord",
      "Order", "Deposited", "Async", "Bean", "Durable", "NaN", "Unconfined");

  @Test
  void eachRecordHasRequiredFormAndAtMost700Words() throws IOException {
    var violations = new ArrayList<String>();
    int number = 0;
    for (var file : records()) {
      var text = Files.readString(file);
      number++;
      if (!text.startsWith("# " + number + ". ")) violations.add(file.getFileName() + ": is not number " + number);
      if (!FORM.matcher(text).matches())
        violations.add(file.getFileName() + ": lacks a part, or has its parts in another order");
      int words = text.split("\\s+").length;
      if (words > 700) violations.add(file.getFileName() + ": has " + words + " words, but may have 700 at most");
    }
    assertTrue(number > 30, () -> "no records in " + RECORDS);
    assertEquals(List.of(), violations);
  }

  @Test
  void recordListMatchesRecordTitles() throws IOException {
    var rows = new ArrayList<String>();
    for (var file : records()) {
      var title = Files.readAllLines(file).get(0).replaceFirst("# \\d+\\. ", "");
      rows.add(
          "| [" + file.getFileName().toString().substring(0, 4) + "](" + file.getFileName() + ") | " + title + " |");
    }
    var list = Files.readAllLines(RECORDS.resolve("README.md"));
    assertEquals(rows, list.stream().filter(line -> line.startsWith("| [0")).toList());
  }

  @Test
  void recordsReferToExistingTypesAndMembers() throws IOException {
    var sourcesByType = declaredTypes();
    var jdkTypes = jdkTypeNames();
    var violations = new ArrayList<String>();
    for (var file : records())
      REFERENCE.matcher(Files.readString(file)).results().forEach(match -> {
        var type = match.group(1);
        var member = match.group(2);
        if (OTHER_NAMES.contains(type) || jdkTypes.contains(type)) return;
        var sources = sourcesByType.get(type);
        if (sources == null) violations.add(file.getFileName() + ": " + match.group() + " is not a type");
        else if (member != null && !sources.matches("(?s).*\\b" + member + "\\b.*"))
          violations.add(file.getFileName() + ": " + match.group() + " is not a member");
      });
    assertEquals(List.of(), violations);
  }

  private static List<Path> records() throws IOException {
    try (var files = Files.list(RECORDS)) {
      return files.filter(file -> file.getFileName().toString().matches("\\d{4}-.*\\.md")).sorted().toList();
    }
  }

  /** {@return the sources of each type that the library declares, by its simple name} */
  private static Map<String, String> declaredTypes() throws IOException {
    var sourcesByType = new HashMap<String, String>();
    for (var file : Repository.files(".java", ".kt")) {
      var text = Files.readString(file);
      DECLARATION.matcher(text).results().forEach(match -> sourcesByType.merge(match.group(1), text, String::concat));
    }
    return sourcesByType;
  }

  private static Set<String> jdkTypeNames() throws IOException {
    var names = new HashSet<String>();
    var modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules");
    for (var module : List.of("java.base", "java.sql", "jdk.jfr"))
      try (var files = Files.walk(modules.resolve(module))) {
        files.map(file -> String.valueOf(file.getFileName())).filter(name -> name.endsWith(".class"))
            .forEach(name -> names.add(name.substring(name.lastIndexOf('$') + 1).replace(".class", "")));
      }
    return names;
  }
}
