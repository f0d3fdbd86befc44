package io.fibry.kotlin.examples

import java.util.Locale

/**
 * The rows of one experiment, measured in order. IO comes late, since its threads linger. FIBER
 * comes first; the others are compared with it per task, since slow ones run fewer tasks.
 */
internal class Table(private val title: String, private val rows: List<Row>, private val work: suspend () -> Unit) {
  private val rounds = System.getProperty("rounds")?.toInt() ?: if (full) 1 else 3

  private fun ratio(row: Row) = row.nanosEach / rows.first().nanosEach

  /** The time of a row as a multiple of FIBER's: "3.0 times". */
  fun times(name: String): String = "%.1f times".format(Locale.ROOT, ratio(rows.first { it.name == name }))

  /** Prints the rows, then a conclusion. */
  fun print(conclusion: (Table) -> String) {
    println("\n$title")
    val processors = Runtime.getRuntime().availableProcessors()
    println("Java ${Runtime.version().feature()}, $processors processors, median of $rounds rounds")
    printRow("dispatcher", "tasks", "seconds", "(least..most)", "x FIBER", "published")
    rows.first().run(minOf(rows.first().tasks, 50_000), work) // warm-up, or FIBER would pay for all
    for (row in rows) {
      repeat(rounds) { row.round(work) }
      val tasks = "%,d".format(Locale.ROOT, row.tasks)
      printRow(row.name, tasks, decimal(row.seconds), row.range, decimal(ratio(row)), row.published)
    }
    println("-> ${conclusion(this)}")
  }

  private fun decimal(value: Double) = "%.2f".format(Locale.ROOT, value)

  private fun printRow(vararg cells: String) = println("%-20s %12s %9s %16s %9s   %s".format(*cells).trimEnd())
}
