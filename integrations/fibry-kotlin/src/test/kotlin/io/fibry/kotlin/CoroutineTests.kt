package io.fibry.kotlin

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue

private const val LONG = 10L

/** Runs coroutines on the test's thread, which no coroutine may block: the others need it. */
internal fun coroutineTest(body: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(LONG.seconds, body) }

/** Lets other coroutines run until [fact] is true. */
internal suspend fun eventually(fact: () -> Boolean) {
  while (!fact()) yield()
}

internal fun CountDownLatch.awaitLong() = assertTrue(await(LONG, TimeUnit.SECONDS), "not reached within $LONG seconds")

/** Holds threads until the test opens it. */
internal class Gate {
  private val opened = CountDownLatch(1)
  private val entered = CountDownLatch(1)
  val isEntered: Boolean
    get() = entered.count == 0L

  fun pass() {
    entered.countDown()
    opened.await()
  }

  fun open() = opened.countDown()
}
