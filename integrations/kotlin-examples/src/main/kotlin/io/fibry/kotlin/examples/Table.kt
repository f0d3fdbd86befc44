package io.fibry.kotlin.examples

import java.util.Locale

/**
 * The rows of one experiment, measured in order. FIBER is the first row. The other rows are
 * compared with it per task, because slow dispatchers run fewer tasks. IO is one of the last rows,
 * because its threads stay alive for some time and would slow the following rows.
 */
internal class Table(private val title: String, private val rows: List<Row>, private val work: suspend () -> Unit) {
  private val rounds = System.getProperty("rounds")?.toInt() ?: if (full) 1 else 3

  private fun ratio(row: Row) = row.nanosEach / rows.first().nanosEach

  /** Returns the time per task of a row as a multiple of FIBER's time, such as "3.0 times". */
  fun times(name: String): String = "%.1f times".format(Locale.ROOT, ratio(rows.first { it.name == name }))

  /** Measures and prints the rows, then prints a conclusion. */
  fun print(conclusion: (Table) -> String) {
    println("\n$title")
    val processors = Runtime.getRuntime().availableProcessors()
    println("Java ${Runtime.version().feature()}, $processors processors, median of $rounds rounds")
    printRow("dispatcher", "tasks", "seconds", "(min..max)", "x FIBER", "published")
    rows.first().run(minOf(rows.first().tasks, 50_000), work) // warm-up; without it, FIBER would be measured cold
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
