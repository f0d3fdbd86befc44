package io.fibry.kotlin.examples

import java.util.Locale
import java.util.concurrent.Executors
import kotlin.system.measureNanoTime
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/**
 * Whether to run in the sizes of the published experiment, which need 8 GB of heap and, on two
 * processors, more than half an hour, most of it for IO.
 */
internal val full: Boolean = System.getProperty("full").toBoolean()

/** The number of tasks: from `-Dsize`, or as published, or one that is quick. */
internal fun size(quick: Int, published: Int): Int =
  System.getProperty("size")?.toInt() ?: if (full) published else quick

internal val pool: CoroutineDispatcher =
  Executors.newFixedThreadPool(64, Thread.ofPlatform().daemon().factory()).asCoroutineDispatcher()

/** A dispatcher and its number of coroutines, with the published figure if there is one. */
internal class Row(
  val name: String,
  private val dispatcher: CoroutineDispatcher,
  val tasks: Int,
  val published: String = "",
) {
  private val took = ArrayList<Double>()

  /** The median of the rounds. */
  val seconds: Double
    get() = took.sorted()[took.size / 2]
  val range: String
    get() = "(%.2f..%.2f)".format(Locale.ROOT, took.min(), took.max())
  val nanosEach: Double
    get() = seconds * 1e9 / tasks

  fun run(many: Int, work: suspend () -> Unit) = runBlocking {
    repeat(many) { launch(dispatcher) { work() } }
  }

  fun round(work: suspend () -> Unit) {
    System.gc() // no row pays for the garbage of another
    took += measureNanoTime { run(tasks, work) } / 1e9
  }
}
