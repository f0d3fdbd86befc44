@file:JvmName("Blocking")

package io.fibry.kotlin.examples

import io.fibry.kotlin.FIBER
import kotlinx.coroutines.Dispatchers

/**
 * Measures calls that block their thread for 100 ms, like calls of JDBC or a Java client. Default
 * and Unconfined have so few threads that they get only a few of the calls.
 */
fun main() {
  val tasks = size(1_000, 100_000)
  val few = minOf(tasks, 10)
  Table(
    "blocking: launch(dispatcher) { Thread.sleep(100) }",
    listOf(
      Row("FIBER", Dispatchers.FIBER, tasks, "0.67 s for 100,000"),
      Row("64 threads", pool, tasks, "162 s for 100,000"),
      Row("Default", Dispatchers.Default, few),
      Row("Unconfined", Dispatchers.Unconfined, few),
      Row("IO", Dispatchers.IO, tasks, "162 s for 100,000"),
      Row("IO of 1,000", Dispatchers.IO.limitedParallelism(1_000), tasks),
    ),
  ) { Thread.sleep(100) }.print { table ->
    "a call that blocks holds its thread: IO and a pool of 64 run 64 at a time, and took ${table.times("IO")} and " +
      "${table.times("64 threads")} as long as FIBER per call; IO with 1,000 threads, ${table.times("IO of 1,000")}. " +
      "This is what a dispatcher on fibers is for. Limit it, limitedParallelism(n), if the called service can " +
      "serve only n calls at once: fibers do not make a database faster."
  }
}
