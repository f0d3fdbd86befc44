package io.fibry.kotlin.examples

import java.util.Locale

/** The sides of one experiment, one after the other: IO comes late, for its threads linger. FIBER comes first: the others are compared with it, task by task, since slow ones do fewer. */
internal class Table(private val title: String, private val sides: List<Side>, private val work: suspend () -> Unit) {
  private val rounds = System.getProperty("rounds")?.toInt() ?: if (full) 1 else 3

  private fun ratio(side: Side) = side.nanosEach / sides.first().nanosEach

  /** "3.0 times": what that side took, as a multiple of FIBER. */
  fun times(name: String): String = "%.1f times".format(Locale.ROOT, ratio(sides.first { it.name == name }))

  /** Prints the rows, then what follows from them. */
  fun print(conclusion: (Table) -> String) {
    println("\n$title")
    println("Java ${Runtime.version().feature()}, ${Runtime.getRuntime().availableProcessors()} processors, rounds of each: $rounds, of which the middle one counts")
    println("%-20s %12s %9s %16s %9s   %s".format("dispatcher", "tasks", "seconds", "(least..most)", "x FIBER", "published"))
    sides.first().run(minOf(sides.first().tasks, 50_000), work) // what is loaded and compiled for all, the first one shall not pay alone
    for (side in sides) {
      repeat(rounds) { side.round(work) }
      println("%-20s %,12d %9.2f %16s %9.2f   %s".format(Locale.ROOT, side.name, side.tasks, side.seconds, side.range, ratio(side), side.published).trimEnd())
    }
    println("-> ${conclusion(this)}")
  }
}
