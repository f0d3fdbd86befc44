package io.fibry.examples.start;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The examples by name, each with what it shows: the first sentence of its Javadoc. */
record Catalogue(Map<String, String> sentences) {
  private static final Pattern SENTENCE = Pattern.compile("(?s)/\\*\\*[\\s*]+(.*?\\.)\\s.*?\\*/\\s*class ");

  static Catalogue of(Path sources) throws IOException {
    var sentences = new TreeMap<String, String>();
    try (var files = Files.newDirectoryStream(sources, "*.java")) {
      for (var file : files)
        sentences.put(file.getFileName().toString().replace(".java", ""), sentence(Files.readString(file)));
    }
    return new Catalogue(sentences);
  }

  private static String sentence(String source) {
    var found = SENTENCE.matcher(source);
    return found.find() ? found.group(1).replaceAll("\\s+\\* ?", " ") : "";
  }

  boolean has(String name) {
    return sentences.containsKey(name);
  }

  String lines() {
    return sentences.entrySet().stream().map(entry -> "  %-20s%s".formatted(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining("\n"));
  }

  /** The name that was meant, perhaps: a letter in three may be wrong, or a part missing. */
  Optional<String> nearest(String typed) {
    for (int errors = 0; errors <= typed.length() / 3; errors++)
      for (var name : sentences.keySet()) if (isNear(lower(name), lower(typed), errors)) return Optional.of(name);
    return sentences.keySet().stream().filter(name -> lower(name).contains(lower(typed))).findFirst();
  }

  /** Whether inserting, dropping or replacing {@code errors} letters makes them equal. */
  private static boolean isNear(String one, String other, int errors) {
    if (errors < 0) return false;
    if (one.isEmpty() || other.isEmpty()) return one.length() + other.length() <= errors;
    var rest = one.substring(1);
    var otherRest = other.substring(1);
    if (one.charAt(0) == other.charAt(0)) return isNear(rest, otherRest, errors);
    return isNear(rest, otherRest, errors - 1) || isNear(rest, other, errors - 1) || isNear(one, otherRest, errors - 1);
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }
}
