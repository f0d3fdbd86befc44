package io.fibry.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.Font;
import java.awt.Paint;
import java.awt.Rectangle;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.NumberFormat;
import java.util.List;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGraphics2D;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.LogarithmicAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.CategoryDataset;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** A chart of a result: bars, ours in green, or lines if there are several sizes. */
final class Chart {
  private static final int WIDTH = 860;
  private static final int FAR_APART = 30; // from this ratio on, an axis is logarithmic
  private static final Font WORDS = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
  private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 13);
  private static final Color OURS = new Color(0x2e8b57);
  private static final Color OTHERS = new Color(0x8a97a8);
  private static final int[] OUR_LINES = {0x2e8b57, 0x7bc96f, 0x0b5d3b, 0xa3b18a};
  private static final int[] OTHER_LINES = {0x8a97a8, 0xc0504d, 0x4f6db8, 0xb08d3c, 0x7d5a9b};

  private Chart() {}

  /** Writes an SVG file. */
  static void write(Result result, Path file) throws IOException {
    boolean bySize = result.rows().stream().map(Row::size).distinct().count() > 1;
    var chart = new JFreeChart(null, TITLE, bySize ? lines(result) : bars(result), bySize);
    chart.setBackgroundPaint(Color.WHITE);
    chart.setPadding(new RectangleInsets(6, 6, 6, 18));
    if (chart.getLegend() != null) chart.getLegend().setItemFont(WORDS);
    Files.writeString(file, svg(chart, bySize ? 420 : 70 + 26 * shown(result).size()));
  }

  /** The rows that one axis can show: those whose unit begins like the first one's. */
  private static List<Row> shown(Result result) {
    String unit = result.rows().getFirst().unit().split(" ")[0];
    return result.rows().stream().filter(row -> row.unit().split(" ")[0].equals(unit) && Double.isFinite(row.median()))
        .toList();
  }

  private static String svg(JFreeChart chart, int height) throws IOException {
    try {
      var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().getDOMImplementation()
          .createDocument("http://www.w3.org/2000/svg", "svg", null);
      var graphics = new SVGGraphics2D(document);
      graphics.setSVGCanvasSize(new Dimension(WIDTH, height));
      chart.draw(graphics, new Rectangle(WIDTH, height));
      var text = new StringWriter();
      graphics.stream(text, true);
      return text.toString().replace("'Dialog'", "sans-serif");
    } catch (ParserConfigurationException impossible) {
      throw new IOException(impossible);
    }
  }

  private static CategoryPlot bars(Result result) {
    var rows = shown(result);
    var data = new DefaultCategoryDataset();
    for (var row : rows) data.addValue(row.median(), row.unit(), row.side());
    var renderer = new BarRenderer() {
      private static final long serialVersionUID = 1;

      @Override
      public Paint getItemPaint(int row, int column) {
        return rows.get(column).side().startsWith("fib") || rows.get(column).equals(result.ours()) ? OURS : OTHERS;
      }
    };
    renderer.setBarPainter(new StandardBarPainter());
    renderer.setShadowVisible(false);
    renderer.setMaximumBarWidth(0.2);
    renderer.setDefaultItemLabelGenerator(new StandardCategoryItemLabelGenerator() {
      private static final long serialVersionUID = 1;

      @Override
      public String generateLabel(CategoryDataset from, int row, int column) {
        return Row.readable(from.getValue(row, column).doubleValue());
      }
    });
    renderer.setDefaultItemLabelFont(WORDS);
    renderer.setDefaultItemLabelsVisible(true);
    renderer
        .setDefaultPositiveItemLabelPosition(new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3, TextAnchor.CENTER_LEFT));
    var sides = new CategoryAxis();
    sides.setTickLabelFont(WORDS);
    sides.setMaximumCategoryLabelWidthRatio(0.6f);
    sides.setCategoryMargin(0.25);
    var figures = figures(rows);
    figures.setUpperMargin(0.15);
    var plot = new CategoryPlot(data, sides, figures, renderer);
    plot.setOrientation(PlotOrientation.HORIZONTAL);
    plot.setRangeAxisLocation(AxisLocation.BOTTOM_OR_LEFT);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    plot.setOutlineVisible(false);
    return plot;
  }

  private static XYPlot lines(Result result) {
    var rows = shown(result);
    var data = new XYSeriesCollection();
    for (var side : rows.stream().map(Row::side).distinct().toList()) {
      var line = new XYSeries(side);
      rows.stream().filter(row -> row.side().equals(side)).forEach(row -> line.add(row.size(), row.median()));
      data.addSeries(line);
    }
    var renderer = new XYLineAndShapeRenderer(true, true);
    int ours = 0;
    int others = 0;
    for (int i = 0; i < data.getSeriesCount(); i++) {
      renderer.setSeriesStroke(i, new BasicStroke(2.5f));
      boolean isOurs = ((String) data.getSeriesKey(i)).startsWith("fib");
      renderer.setSeriesPaint(i,
          new Color(isOurs ? OUR_LINES[ours++ % OUR_LINES.length] : OTHER_LINES[others++ % OTHER_LINES.length]));
    }
    long least = rows.stream().mapToLong(Row::size).min().orElseThrow();
    long most = rows.stream().mapToLong(Row::size).max().orElseThrow();
    var sizes = axis(most > least * FAR_APART, "size");
    if (most > least * FAR_APART) {
      sizes.setRange(least * 0.7, most * 1.4);
    } else {
      sizes.setAutoRangeIncludesZero(false);
      sizes.setStandardTickUnits(NumberAxis.createIntegerTickUnits());
    }
    var plot = new XYPlot(data, sizes, figures(rows), renderer);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    plot.setDomainGridlinesVisible(false);
    plot.setOutlineVisible(false);
    return plot;
  }

  private static ValueAxis figures(List<Row> rows) {
    double least = rows.stream().mapToDouble(Row::median).min().orElse(1);
    double most = rows.stream().mapToDouble(Row::median).max().orElse(1);
    boolean far = least > 0 && most > least * FAR_APART;
    String unit = rows.stream().map(Row::unit).distinct().count() == 1 ? rows.getFirst().unit()
        : rows.getFirst().unit().split(" ")[0];
    var axis = axis(far, unit + (rows.getFirst().moreIsBetter() ? ", more is better" : ", less is better")
        + (far ? "; logarithmic" : ""));
    if (far) axis.setRange(least / 3, most * 4);
    return axis;
  }

  /** With plain numbers as ticks: text, not outlines, in the file. */
  private static NumberAxis axis(boolean logarithmic, String label) {
    var axis = logarithmic ? new LogarithmicAxis(label) : new NumberAxis(label);
    if (axis instanceof LogarithmicAxis log) {
      log.setAllowNegativesFlag(false);
      log.setStrictValuesFlag(false);
      log.setLog10TickLabelsFlag(false);
      log.setExpTickLabelsFlag(false);
    }
    var numbers = NumberFormat.getNumberInstance(Locale.ROOT);
    numbers.setMaximumFractionDigits(4);
    axis.setNumberFormatOverride(numbers);
    axis.setLabelFont(WORDS);
    axis.setTickLabelFont(WORDS);
    return axis;
  }
}
