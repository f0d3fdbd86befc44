package io.fibry.kotlin.examples

import java.util.Locale

/** The rows of one experiment, one after the other: IO comes late, for its threads linger. FIBER comes first: the others are compared with it, task by task, since slow ones do fewer. */
internal class Table(private val title: String, private val rows: List<Row>, private val work: suspend () -> Unit) {
  private val rounds = System.getProperty("rounds")?.toInt() ?: if (full) 1 else 3

  private fun ratio(row: Row) = row.nanosEach / rows.first().nanosEach

  /** "3.0 times": what that row took, as a multiple of FIBER. */
  fun times(name: String): String = "%.1f times".format(Locale.ROOT, ratio(rows.first { it.name == name }))

  /** Prints the rows, then what follows from them. */
  fun print(conclusion: (Table) -> String) {
    println("\n$title")
    println("Java ${Runtime.version().feature()}, ${Runtime.getRuntime().availableProcessors()} processors, rounds of each: $rounds, of which the middle one counts")
    println("%-20s %12s %9s %16s %9s   %s".format("dispatcher", "tasks", "seconds", "(least..most)", "x FIBER", "published"))
    rows.first().run(minOf(rows.first().tasks, 50_000), work) // what is loaded and compiled for all, the first one shall not pay alone
    for (row in rows) {
      repeat(rounds) { row.round(work) }
      println("%-20s %,12d %9.2f %16s %9.2f   %s".format(Locale.ROOT, row.name, row.tasks, row.seconds, row.range, ratio(row), row.published).trimEnd())
    }
    println("-> ${conclusion(this)}")
  }
}
