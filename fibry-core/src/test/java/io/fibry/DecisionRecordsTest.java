package io.fibry;

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

/** The decision records have one form, and name only types and members that exist. */
class DecisionRecordsTest {
  private static final Path RECORDS = Repository.ROOT.resolve("docs/adr");
  private static final Pattern PARTS = Pattern.compile("(?s)# \\d+\\. [^\n]+\n\n"
      + "\\*\\*Status\\.\\*\\* (?:Accepted|Replaced by \\[ADR \\d+\\]\\([^)]+\\)), \\d{4}-\\d\\d-\\d\\d[.;].*?"
      + "\n\\*\\*Context\\.\\*\\* .*?\n\\*\\*Decision[.,].*?(?:\n\\*\\*Consequences\\.\\*\\* .*?)?"
      + "(?:\n\\*\\*Refused\\.\\*\\* .*)?");
  /** A type, and perhaps a member; a name with a hyphen is a header of HTTP. */
  private static final Pattern NAMED =
      Pattern.compile("`@?([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?![A-Za-z0-9-])(?:\\.(\\w+))?[^`]*`");
  private static final Pattern DECLARED =
      Pattern.compile("\\b(?:class|interface|record|enum|object) ([A-Z][A-Za-z0-9]*)");

  /** Types of other libraries, annotations among them, and words that look like types. */
  private static final Set<String> OF_OTHERS = Set.of("SmartLifecycle", "Dispatchers", "JsonProperty", "JvmRecord",
      "Order", "Deposited", "Async", "Bean", "Durable", "NaN", "Unconfined");

  @Test
  void eachRecordHasNumberDateAndParts() throws IOException {
    var wrong = new ArrayList<String>();
    int number = 0;
    for (var file : records()) {
      var text = Files.readString(file);
      number++;
      if (!text.startsWith("# " + number + ". ")) wrong.add(file.getFileName() + ": is not number " + number);
      if (!PARTS.matcher(text).matches()) wrong.add(file.getFileName() + ": lacks a part, or the parts' order");
      int words = text.split("\\s+").length;
      if (words > 700) wrong.add(file.getFileName() + ": has " + words + " words, and should have 700 at most");
    }
    assertTrue(number > 30, () -> "no records in " + RECORDS);
    assertEquals(List.of(), wrong);
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
    var declared = declaredTypes();
    var ofTheJdk = typesOfTheJdk();
    var wrong = new ArrayList<String>();
    for (var file : records())
      NAMED.matcher(Files.readString(file)).results().forEach(found -> {
        var type = found.group(1);
        var member = found.group(2);
        if (OF_OTHERS.contains(type) || ofTheJdk.contains(type)) return;
        var sources = declared.get(type);
        if (sources == null) wrong.add(file.getFileName() + ": " + found.group() + " is no type");
        else if (member != null && !sources.matches("(?s).*\\b" + member + "\\b.*"))
          wrong.add(file.getFileName() + ": " + found.group() + " is no member");
      });
    assertEquals(List.of(), wrong);
  }

  private static List<Path> records() throws IOException {
    try (var files = Files.list(RECORDS)) {
      return files.filter(file -> file.getFileName().toString().matches("\\d{4}-.*\\.md")).sorted().toList();
    }
  }

  /** {@return the sources of each type that the library declares, by its simple name} */
  private static Map<String, String> declaredTypes() throws IOException {
    var declared = new HashMap<String, String>();
    for (var file : Repository.files(".java", ".kt")) {
      var text = Files.readString(file);
      DECLARED.matcher(text).results().forEach(found -> declared.merge(found.group(1), text, String::concat));
    }
    return declared;
  }

  private static Set<String> typesOfTheJdk() throws IOException {
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
