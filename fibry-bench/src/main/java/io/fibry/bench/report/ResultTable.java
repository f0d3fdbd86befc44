package io.fibry.bench.report;

import java.util.Locale;

/** A result in Markdown: a sentence about the measurement, a table, and the chart. */
final class ResultTable {
  private ResultTable() {}

  static String of(Result result) {
    boolean sized = result.rows().stream().anyMatch(row -> row.size() > 0);
    boolean referenced = result.rows().stream().anyMatch(row -> !row.reference().isBlank());
    boolean promise = result.isPromise();
    var title = result.title();
    var text =
        new StringBuilder(title.isEmpty() ? "" : Character.toUpperCase(title.charAt(0)) + title.substring(1) + ". ");
    text.append("JDK ").append(result.jdk()).append(", ").append(result.date()).append(".\n");
    text.append("\n| side |").append(sized ? " size |" : "").append(" median | range | unit |")
        .append(promise ? "" : " cost |").append(referenced ? promise ? " must be |" : " published |" : "")
        .append("\n|---|").append(sized ? "--:|" : "").append("--:|--:|---|").append(promise ? "" : "--:|")
        .append(referenced ? "---|" : "").append('\n');
    for (var row : result.rows()) {
      text.append("| ").append(escaped(row.side())).append(" |");
      if (sized) text.append(String.format(Locale.ROOT, " %,d |", row.size()));
      text.append(' ').append(ResultRow.readable(row.median())).append(" | ")
          .append(
              row.least() == row.most() ? "" : ResultRow.readable(row.least()) + ".." + ResultRow.readable(row.most()))
          .append(" | ").append(escaped(row.unit())).append(" |");
      if (!promise) text.append(' ').append(ResultRow.readable(row.costAgainst(result.base(row)))).append(" |");
      if (referenced) text.append(' ').append(escaped(row.reference())).append(" |");
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
