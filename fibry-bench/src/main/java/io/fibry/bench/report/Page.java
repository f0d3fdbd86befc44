package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Markdown page that is written by hand, except for its generated blocks. A block begins with
 * {@code <!-- report name -->} and ends with {@code <!-- /report -->}.
 */
final class Page {
  static final String BEGIN = "<!-- report ";
  static final String END = "<!-- /report -->";
  private static final Pattern BLOCK_BEGIN = Pattern.compile(BEGIN + "([\\w.-]+) -->\n");
  private static final Pattern BLOCK = Pattern.compile("(?s)" + BLOCK_BEGIN + ".*?" + END);

  private Page() {}

  static List<String> blockNames(Path page) throws IOException {
    return BLOCK_BEGIN.matcher(Files.readString(page)).results().map(match -> match.group(1)).toList();
  }

  /**
   * Replaces the content of each block.
   *
   * @param content returns the content for the name of a block, with links relative to docs
   * @param toDocs the path from the page to docs, which is put before each link
   */
  static void fill(Path page, UnaryOperator<String> content, String toDocs) throws IOException {
    var text = Files.readString(page);
    if (BLOCK.matcher(text).results().count() != BLOCK_BEGIN.matcher(text).results().count())
      throw new IllegalStateException("a block of " + page + " has no '" + END + "'");
    var newText = BLOCK.matcher(text).replaceAll(block -> Matcher.quoteReplacement(BEGIN + block.group(1) + " -->\n"
        + content.apply(block.group(1)).replace("](", "](" + toDocs) + END));
    if (!newText.equals(text)) Files.writeString(page, newText);
  }
}
