package io.fibry.kotlin

import io.fibry.ActorBuilder
import io.fibry.ActorSystem
import io.fibry.FailurePolicy
import io.fibry.Handler
import io.fibry.Strategy
import io.fibry.flow.Generator
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.pubsub.ObservableValue
import io.fibry.pubsub.Topic
import io.fibry.support.Patience
import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FlowsTest {
  private val topic: Topic<Int> = Topic.open(ActorSystem.anonymous())
  private val seen = ConcurrentLinkedQueue<Int>()

  private val go = CompletableDeferred<Unit>()

  /**
   * Starts a coroutine that collects the published numbers, and waits for [go] at each number
   * except zero. Returns when the first zero has arrived, so the collector misses no later number.
   * A fiber publishes the zeros, because publishing may wait for the collector's thread.
   */
  private suspend fun CoroutineScope.collecting(mailbox: Mailbox<Any>): Job {
    val collecting = launch {
      topic.asFlow(mailbox).collect {
        seen += it
        if (it > 0) go.await()
      }
    }
    while (seen.isEmpty()) withContext(Dispatchers.FIBER) { topic.publish(0) }
    return collecting
  }

  private fun CoroutineScope.publishing(count: Int, onPublished: (Int) -> Unit = {}): Job = launch(Dispatchers.FIBER) {
    for (n in 1..count) {
      topic.publish(n)
      onPublished(n)
    }
  }

  private fun numbers() = seen.filter { it > 0 }

  private val silent = ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog())

  private fun generator(
    builder: ActorBuilder<Any> = ActorSystem.anonymous(),
    producer: (Generator.Output<Int>) -> Unit,
  ): Generator<Int> = Generator.of(builder, 10, Handler<Generator.Output<Int>> { out -> producer(out) })

  @Test
  fun flowEmitsPublishedMessagesAndEndsWithItsTopic() = coroutineTest {
    go.complete(Unit)
    val collecting = collecting(Mailbox.bounded(10, Overflow.BLOCK))

    publishing(1_000) { if (it == 1_000) topic.close() }
    collecting.join()

    assertEquals((1..1_000).toList(), numbers())
  }

  @Test
  fun slowCollectorGetsLatestMessageWhenMailboxDropsOldest() = coroutineTest {
    val collecting = collecting(Mailbox.bounded(1, Overflow.DROP_OLDEST))
    topic.publish(1)
    eventually { 1 in seen }

    for (n in 2..1_000) topic.publish(n)
    go.complete(Unit)
    eventually { 1_000 in seen }
    collecting.cancelAndJoin()

    // at most three: the first number, a number that was being delivered, and the last number
    assertTrue(numbers().size <= 3, numbers().toString())
  }

  @Test
  fun blockingMailboxSlowsPublisher() = coroutineTest {
    val published = AtomicInteger()
    val collecting = collecting(Mailbox.bounded(2, Overflow.BLOCK))

    val publishing = publishing(1_000, published::set)
    eventually { published.get() > 60 }
    repeat(1_000) { yield() }
    assertTrue(published.get() <= 68, "$published; at most 68: 1 is collected, 65 are in flight, 2 are in the mailbox")
    go.complete(Unit)
    publishing.join()
    eventually { numbers().size == 1_000 }
    collecting.cancelAndJoin()
  }

  @Test
  fun cancelledCollectorUnsubscribesAndFreesPublisher() = coroutineTest {
    val collecting = collecting(Mailbox.bounded(1, Overflow.BLOCK))
    val publishing = publishing(1_000)
    eventually { 1 in seen }
    assertTrue(publishing.isActive)

    collecting.cancelAndJoin()
    publishing.join()

    assertEquals(listOf(1), numbers())
  }

  @Test
  fun throwingCollectorUnsubscribesAndFreesPublisher() = coroutineTest {
    val published = topic.asFlow(Mailbox.bounded(1, Overflow.BLOCK))
    val failure = async {
      runCatching { published.collect { throw StackOverflowError("not a real one") } }.exceptionOrNull()
    }
    eventually {
      topic.publish(1)
      failure.isCompleted
    }

    publishing(1_000).join()

    assertInstanceOf(StackOverflowError::class.java, failure.await())
  }

  @Test
  fun topicFlowEndsAfterTakenNumberOfItems() = coroutineTest {
    val three = async { topic.asFlow().take(3).toList() }
    eventually {
      topic.publish(7)
      three.isCompleted
    }

    assertEquals(listOf(7, 7, 7), three.await())
  }

  @Test
  fun flowOfClosedTopicFails() = coroutineTest {
    topic.close()

    assertInstanceOf(IllegalStateException::class.java, runCatching { topic.asFlow().first() }.exceptionOrNull())
  }

  @Test
  fun observableValueEmitsCurrentThenLatestValue() = coroutineTest {
    val level = ObservableValue.of(ActorSystem.anonymous(), 1)
    val collecting = launch { level.asFlow().collect { seen += it } }
    eventually { 1 in seen }

    for (n in 2..100) level.set(n)
    eventually { 100 in seen }
    collecting.cancelAndJoin()
    level.set(101)

    assertEquals(seen.sorted(), seen.toList())
    assertEquals(100, seen.last())
  }

  /** No setter is blocked even with CALLER, where the setter's thread runs the subscriber. */
  @Test
  fun slowCollectorDoesNotBlockSetterOfObservableValue() = coroutineTest {
    val level = ObservableValue.of(ActorSystem.anonymous().strategy(Strategy.CALLER), 1)
    val collecting = launch {
      level.asFlow().collect {
        seen += it
        go.await()
      }
    }
    eventually { 1 in seen }

    for (n in 2..100) level.set(n) // on the collector's thread
    go.complete(Unit)
    eventually { 100 in seen }
    collecting.cancelAndJoin()

    assertEquals(listOf(1, 100), seen.toList())
  }

  @Test
  fun generatorStartsAgainForEachCollector() = coroutineTest {
    val hundred = generator { out -> for (n in 1..100) out.yield(n) }

    repeat(2) { assertEquals((1..100).toList(), hundred.asFlow().toList()) }
  }

  @Test
  fun producerFailureFailsFlow() = coroutineTest {
    val failing = generator(silent) { out ->
      out.yield(1)
      throw IOException("the disk is gone")
    }

    val failure = runCatching { failing.asFlow().collect { seen += it } }.exceptionOrNull()

    assertEquals(listOf(1), seen.toList())
    assertEquals("the disk is gone", assertInstanceOf(IOException::class.java, failure).message)
  }

  @Test
  fun cancellationExceptionOfProducerFailsFlow() = coroutineTest {
    val producers = CancellationException("the producer's own")
    val failing = generator(silent) { throw producers }

    val failure = runCatching { failing.asFlow().collect { seen += it } }.exceptionOrNull()

    assertSame(producers, assertInstanceOf(ExecutionException::class.java, failure).cause)
  }

  @Test
  fun cancelledFlowWaitsForProducerWithoutBlockingThread() = coroutineTest {
    val gate = Gate()
    val patient = ActorSystem.openScope("patient") { it.withKillGrace(Patience.LONG) }
    val stubborn = generator(patient.anonymous()) { while (runCatching(gate::pass).isFailure); }
    val collecting = launch { stubborn.asFlow().collect { seen += it } }
    eventually { gate.isEntered }

    collecting.cancel()
    repeat(100) { yield() }
    assertFalse(collecting.isCompleted)
    gate.open()

    collecting.join()
    patient.close()
  }

  @Test
  fun cancelledFlowEndsItsProducer() = coroutineTest {
    val ended = CountDownLatch(1)
    val stuck = generator { out ->
      try {
        out.yield(1)
        CountDownLatch(1).await()
      } finally {
        ended.countDown()
      }
    }
    val collecting = launch { stuck.asFlow().collect { seen += it } }
    eventually { seen.isNotEmpty() }

    collecting.cancelAndJoin()

    Patience.await(ended)
  }
}
