package io.fibry.bench.report;

import java.util.Locale;

/** Renders a result as Markdown: a sentence about the measurement, a table, and the chart. */
final class ResultTable {
  private ResultTable() {}

  static String of(Result result) {
    boolean hasSizes = result.rows().stream().anyMatch(row -> row.size() > 0);
    boolean hasReferences = result.rows().stream().anyMatch(row -> !row.reference().isBlank());
    boolean isPromise = result.isPromise();
    var title = result.title();
    var text =
        new StringBuilder(title.isEmpty() ? "" : Character.toUpperCase(title.charAt(0)) + title.substring(1) + ". ");
    text.append("JDK ").append(result.jdk()).append(", ").append(result.date()).append(".\n");
    text.append("\n| side |").append(hasSizes ? " size |" : "").append(" median | range | unit |")
        .append(isPromise ? "" : " cost |").append(hasReferences ? isPromise ? " must be |" : " published |" : "")
        .append("\n|---|").append(hasSizes ? "--:|" : "").append("--:|--:|---|").append(isPromise ? "" : "--:|")
        .append(hasReferences ? "---|" : "").append('\n');
    for (var row : result.rows()) {
      text.append("| ").append(escaped(row.side())).append(" |");
      if (hasSizes) text.append(String.format(Locale.ROOT, " %,d |", row.size()));
      text.append(' ').append(ResultRow.readable(row.median())).append(" | ")
          .append(
              row.least() == row.most() ? "" : ResultRow.readable(row.least()) + ".." + ResultRow.readable(row.most()))
          .append(" | ").append(escaped(row.unit())).append(" |");
      if (!isPromise) text.append(' ').append(ResultRow.readable(row.costAgainst(result.base(row)))).append(" |");
      if (hasReferences) text.append(' ').append(escaped(row.reference())).append(" |");
      text.append('\n');
    }
    if (!result.isPromise())
      text.append("\n![").append(result.comparison().title(result.question())).append("](charts/")
          .append(result.question()).append(".svg)\n");
    return text.toString();
  }

  private static String escaped(String cell) {
    return cell.replace("|", "\\|");
  }
}
