package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorSystem
import io.fibry.ExitReason
import io.fibry.Handler
import io.fibry.Strategy
import io.fibry.flow.Generator
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.pubsub.SharedValue
import io.fibry.pubsub.Topic
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.channels.trySendBlocking
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.conflate
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.withContext

/**
 * A flow of what is published while it is collected. Each collector is a subscriber with its own
 * mailbox, which decides what a slow collector costs: the publisher's time (`BLOCK`), or messages,
 * which become dead letters. Beyond the mailbox, one message is under way if the mailbox drops, so
 * that the collector sees no old ones; otherwise up to 64 are, since single hand-overs are slow.
 *
 * When the topic ends, the flow completes after the messages published before. A cancelled flow
 * leaves the topic. Collecting a topic that has ended fails with an [IllegalStateException].
 *
 * @param mailbox where messages wait for the collector; by default it keeps the latest 1,024
 */
public fun <T : Any> Topic<T>.asFlow(mailbox: Mailbox<in T> = Mailbox.bounded(1_024, Overflow.DROP_OLDEST)): Flow<T> {
  val topic = this
  return callbackFlow<T> {
    val reader = ActorSystem.anonymous().strategy(Strategy.FIBER).mailbox<T>(mailbox)
      .newActor(Handler<T> { message -> channel.trySendBlocking(message) })
    reader.closeOnExit(AutoCloseable { channel.close() })
    try {
      topic.stopAtExit(reader)
      val subscription = topic.subscribe(reader)
      awaitClose { subscription.close() }
    } finally {
      reader.askExit()
    }
  }.buffer(if (mailbox.drops()) Channel.RENDEZVOUS else 64)
}

/**
 * Sends the reader a poison pill when the topic ends. The watching actor ends with the reader. It
 * runs on the caller's thread, so it watches when this function returns.
 */
private fun Topic<*>.stopAtExit(reader: Actor<*>) {
  val watcher = ActorSystem.anonymous().strategy(Strategy.CALLER).mailbox<Any>(Mailbox.unbounded())
    .newActor(Handler.InContext<Any> { message, context ->
      if (message is ExitReason) reader.sendPoisonPill() else context.watch(this) { reason -> reason }
    })
  reader.closeOnExit(AutoCloseable { watcher.askExit() })
  watcher.sendMessage(this)
}

/**
 * A flow of the current value and its changes; a slow collector gets only the latest. The flow
 * never completes; cancelling it ends the subscription. The subscriber is an actor from the value's
 * builder, and never waits for the collector.
 */
public fun <T : Any> SharedValue<T>.asFlow(): Flow<T> {
  val value = this
  return callbackFlow<T> {
    val subscription = value.subscribe(Handler<T> { now -> channel.trySend(now) })
    awaitClose { subscription.close() }
  }.conflate()
}

/**
 * A flow of what the generator's producers make. Each collection starts them again. They run ahead
 * as far as the generator allows; the collector suspends where a loop over the generator would
 * block. A failure of a producer fails the flow, after all values made before. Cancelling the flow
 * ends the producers, and suspends until they have ended.
 */
public fun <T : Any> Generator<T>.asFlow(): Flow<T> {
  val generator = this
  return flow<T> {
    val reader = generator.iterator()
    try {
      while (onFiber { reader.hasNext() }) emit(reader.next())
    } finally {
      withContext(NonCancellable) { onFiber { reader.close() } }
    }
  }
}
