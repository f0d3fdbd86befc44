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

/** The examples by name, each with its description: the first sentence of its Javadoc. */
record Catalog(Map<String, String> sentences) {
  private static final Pattern SENTENCE = Pattern.compile("(?s)/\\*\\*[\\s*]+(.*?\\.)\\s.*?\\*/\\s*class ");

  static Catalog of(Path sources) throws IOException {
    var sentences = new TreeMap<String, String>();
    try (var files = Files.newDirectoryStream(sources, "*.java")) {
      for (var file : files)
        sentences.put(file.getFileName().toString().replace(".java", ""), sentence(Files.readString(file)));
    }
    return new Catalog(sentences);
  }

  private static String sentence(String source) {
    var matcher = SENTENCE.matcher(source);
    return matcher.find() ? matcher.group(1).replaceAll("\\s+\\* ?", " ") : "";
  }

  boolean has(String name) {
    return sentences.containsKey(name);
  }

  String lines() {
    return sentences.entrySet().stream().map(entry -> "  %-20s%s".formatted(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining("\n"));
  }

  /** Returns a name that contains the typed text, or in which at most a third of it differs. */
  Optional<String> nearest(String typed) {
    for (int errors = 0; errors <= typed.length() / 3; errors++)
      for (var name : sentences.keySet()) if (isNear(lower(name), lower(typed), errors)) return Optional.of(name);
    return sentences.keySet().stream().filter(name -> lower(name).contains(lower(typed))).findFirst();
  }

  /** Returns whether the texts differ by at most {@code errors} letters. */
  private static boolean isNear(String name, String typed, int errors) {
    if (errors < 0) return false;
    if (name.isEmpty() || typed.isEmpty()) return name.length() + typed.length() <= errors;
    var tail = name.substring(1);
    var rest = typed.substring(1);
    if (name.charAt(0) == typed.charAt(0)) return isNear(tail, rest, errors);
    return isNear(tail, rest, errors - 1) || isNear(tail, typed, errors - 1) || isNear(name, rest, errors - 1);
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }
}
