@file:JvmName("ShortDelays")

package io.fibry.kotlin.examples

import io.fibry.kotlin.FIBER
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay

/** Measures a few coroutines with a short delay, which do not overload any dispatcher. */
fun main() {
  val tasks = size(10_000, 10_000)
  Table(
    "short delays: launch(dispatcher) { delay(100) }",
    listOf(
      Row("FIBER", Dispatchers.FIBER, tasks, "0.183 s for 10,000"),
      Row("Default", Dispatchers.Default, tasks),
      Row("Unconfined", Dispatchers.Unconfined, tasks),
      Row("64 threads", pool, tasks),
      Row("IO", Dispatchers.IO, tasks, "0.222 s for 10,000"),
    ),
  ) { delay(100) }.print { table ->
    "100 ms of each result is the delay itself, the rest starts the coroutines. Default took " +
      "${table.times("Default")} as long as FIBER, IO ${table.times("IO")}: " +
      "choose by what the code does, not by results like these."
  }
}
