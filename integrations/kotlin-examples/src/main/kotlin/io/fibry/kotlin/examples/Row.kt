package io.fibry.kotlin.examples

import java.util.Locale
import java.util.concurrent.Executors
import kotlin.system.measureNanoTime
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** Whether to run in the sizes of the published experiment, which take half an hour and more on two processors, most of it on IO, and 8 GB of heap. */
internal val full: Boolean = System.getProperty("full").toBoolean()

/** How many: from `-Dsize`, or the published number, or one that ends soon. */
internal fun size(soon: Int, published: Int): Int = System.getProperty("size")?.toInt() ?: if (full) published else soon

internal val pool: CoroutineDispatcher = Executors.newFixedThreadPool(64, Thread.ofPlatform().daemon().factory()).asCoroutineDispatcher()

/** So many coroutines on one dispatcher, and what was published for the same, if it was. */
internal class Row(val name: String, private val dispatcher: CoroutineDispatcher, val tasks: Int, val published: String = "") {
  private val took = ArrayList<Double>()

  /** Of several rounds the middle one counts. */
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
    System.gc() // none pays for the garbage of another
    took += measureNanoTime { run(tasks, work) } / 1e9
  }
}
