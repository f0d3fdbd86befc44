package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Markdown page, written by hand but for its blocks: each begins with {@code <!-- report name
 * -->} and ends with {@code <!-- /report -->}.
 */
final class Page {
  static final String BEGIN = "<!-- report ";
  static final String END = "<!-- /report -->";
  private static final Pattern NAME = Pattern.compile(BEGIN + "([\\w.-]+) -->\n");
  private static final Pattern BLOCK = Pattern.compile("(?s)" + NAME + ".*?" + END);

  private Page() {}

  static List<String> blocks(Path page) throws IOException {
    return NAME.matcher(Files.readString(page)).results().map(name -> name.group(1)).toList();
  }

  /** Replaces the content of each block. Its links are relative to the folder {@code toDocs}. */
  static void fill(Path page, UnaryOperator<String> content, String toDocs) throws IOException {
    var text = Files.readString(page);
    if (BLOCK.matcher(text).results().count() != NAME.matcher(text).results().count())
      throw new IllegalStateException("a block of " + page + " has no '" + END + "'");
    var filled = BLOCK.matcher(text).replaceAll(block -> Matcher.quoteReplacement(BEGIN + block.group(1) + " -->\n"
        + content.apply(block.group(1)).replace("](", "](" + toDocs) + END));
    if (!filled.equals(text)) Files.writeString(page, filled);
  }
}
