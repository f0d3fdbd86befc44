package io.fibry.kotlin.examples

import java.util.Locale
import java.util.concurrent.Executors
import kotlin.system.measureNanoTime
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/**
 * Whether to run as many tasks as the published experiment did. So many tasks need 8 GB of heap. On
 * two processors they take more than half an hour, most of it on `Dispatchers.IO`.
 */
internal val full: Boolean = System.getProperty("full").toBoolean()

/** Returns the number of tasks: `-Dsize` if it is set, otherwise [published] or [quick]. */
internal fun size(quick: Int, published: Int): Int =
  System.getProperty("size")?.toInt() ?: if (full) published else quick

internal val pool: CoroutineDispatcher =
  Executors.newFixedThreadPool(64, Thread.ofPlatform().daemon().factory()).asCoroutineDispatcher()

/** A dispatcher, its number of coroutines, and the published result, or an empty string. */
internal class Row(
  val name: String,
  private val dispatcher: CoroutineDispatcher,
  val tasks: Int,
  val published: String = "",
) {
  private val durations = ArrayList<Double>()

  /** The median duration of the rounds, in seconds. */
  val seconds: Double
    get() = durations.sorted()[durations.size / 2]
  val range: String
    get() = "(%.2f..%.2f)".format(Locale.ROOT, durations.min(), durations.max())
  val nanosEach: Double
    get() = seconds * 1e9 / tasks

  fun run(count: Int, work: suspend () -> Unit) = runBlocking {
    repeat(count) { launch(dispatcher) { work() } }
  }

  fun round(work: suspend () -> Unit) {
    System.gc() // so that no row collects the garbage of another row
    durations += measureNanoTime { run(tasks, work) } / 1e9
  }
}
