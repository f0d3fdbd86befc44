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

/** Coroutines on the one thread of the test, which is held by nobody: or the others would not go on. */
internal fun coroutineTest(body: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(LONG.seconds, body) }

/** Lets the others go on until it is true. */
internal suspend fun eventually(fact: () -> Boolean) {
  while (!fact()) yield()
}

internal fun CountDownLatch.awaitLong() = assertTrue(await(LONG, TimeUnit.SECONDS), "waited in vain")

/** Keeps whoever passes it until it is opened. */
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
