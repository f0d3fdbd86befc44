@file:JvmName("Delays")

package io.fibry.kotlin.examples

import io.fibry.kotlin.FIBER
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay

private const val AT_ONCE = 5_000

/**
 * Measures many coroutines that wait for a second without blocking a thread. The published limit of
 * 5,000 counts running coroutines, not waiting coroutines. With this limit, IO may start up to
 * 5,000 threads, and a fiber runs several pieces of coroutines in sequence.
 */
fun main() {
  val tasks = size(50_000, 10_000_000)
  Table(
    "delays: launch(dispatcher) { delay(1000) }, limitedParallelism(5000) unless stated otherwise",
    listOf(
      Row("FIBER", Dispatchers.FIBER.limitedParallelism(AT_ONCE), tasks, "18.5 s for 10,000,000; 2.36 s for fewer"),
      Row("FIBER, no limit", Dispatchers.FIBER, tasks),
      Row("Default", Dispatchers.Default.limitedParallelism(AT_ONCE), tasks, "11.7 s for fewer"),
      Row("Unconfined", Dispatchers.Unconfined, tasks, "1.7 s for fewer"),
      Row("64 threads", pool, tasks),
      Row("IO", Dispatchers.IO.limitedParallelism(AT_ONCE), tasks, "184.7 s for 10,000,000; 17.4 s for fewer"),
      Row("Default after IO", Dispatchers.Default.limitedParallelism(AT_ONCE), tasks),
    ),
  ) { delay(1_000) }.print { table ->
    "delay holds no thread, so no coroutine waits for a free thread; starting and resuming make the difference. " +
      "Default took ${table.times("Default")} as long as FIBER, Unconfined ${table.times("Unconfined")}, " +
      "a pool of 64 ${table.times("64 threads")}: if code only suspends, choose by other criteria. " +
      "IO took ${table.times("IO")}: it starts threads although nothing blocks. They linger for a minute in the " +
      "scheduler that it shares with Default, which took ${table.times("Default after IO")} after it; that may " +
      "explain the published result of Default."
  }
}
