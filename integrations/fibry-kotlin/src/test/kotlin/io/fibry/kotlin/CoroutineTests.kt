package io.fibry.kotlin

import io.fibry.support.Evidence
import io.fibry.support.Pace
import io.fibry.support.Patience
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.fail

/** A limit that a call must not reach, even on a busy machine. */
internal val LONG = Patience.LONG.toKotlinDuration()

/**
 * Runs coroutines on the test's thread. No coroutine may block this thread, because the others need
 * it.
 */
internal fun coroutineTest(body: suspend CoroutineScope.() -> Unit): Unit = runBlocking { body() }

/** Lets other coroutines run until [fact] is true, for at most the limit of [Patience]. */
internal suspend fun eventually(fact: () -> Boolean) {
  repeat(1_000) { if (fact()) return else yield() }
  val begun = Pace.nanoTime()
  while (!fact()) {
    if (Pace.nanoTime() - begun > Patience.LONG.toNanos()) fail<Unit>("the fact never held; ${Evidence.describe()}")
    delay(1.milliseconds) // other threads need the processor
  }
}

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
