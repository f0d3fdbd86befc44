package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorSystem
import io.fibry.ExitReason
import io.fibry.Handler
import io.fibry.Strategy
import io.fibry.flow.Generator
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.pubsub.ObservableValue
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
 * The messages that are published during the collection. Each collector has its own mailbox, which
 * decides what a slow one costs: the publisher's time (`BLOCK`), or messages, which become dead
 * letters. One more message may be under delivery, or 64 with a mailbox that does not drop, since
 * single hand-overs are slow.
 *
 * The flow completes after the last message of a topic that ends. Cancelling it ends the
 * subscription. A topic that has already ended is an [IllegalStateException].
 *
 * @param mailbox by default keeps the latest 1,024 messages
 */
public fun <T : Any> Topic<T>.asFlow(mailbox: Mailbox<in T> = Mailbox.bounded(1_024, Overflow.DROP_OLDEST)): Flow<T> {
  val topic = this
  return callbackFlow<T> {
    val reader = ActorSystem.beside(topic).strategy(Strategy.FIBER).mailbox(mailbox)
      .newActor(Handler<T> { message -> channel.trySendBlocking(message) })
    reader.closeOnExit(AutoCloseable { channel.close() })
    try {
      topic.stopAtExit(reader)
      val subscription = topic.subscribe(reader)
      awaitClose { subscription.close() }
    } finally {
      reader.askExit()
    }
  }.buffer(if (mailbox.isLossy()) Channel.RENDEZVOUS else 64)
}

/**
 * Sends the reader a poison pill when the topic ends. The watcher ends with the reader. It runs on
 * the caller's thread, so it watches on return.
 */
private fun Topic<*>.stopAtExit(reader: Actor<*>) {
  val watcher = ActorSystem.beside(this).strategy(Strategy.CALLER).mailbox(Mailbox.unbounded())
    .newActor(Handler.WithContext<Any> { message, context ->
      if (message is ExitReason) reader.sendPoisonPill() else context.watch(this) { reason -> reason }
    })
  reader.closeOnExit(AutoCloseable { watcher.askExit() })
  watcher.sendMessage(this)
}

/**
 * The current value, then its changes; a slow collector gets only the latest. Never completes;
 * cancelling it ends the subscription. The subscriber, an actor of the value's builder, never waits
 * for the collector.
 */
public fun <T : Any> ObservableValue<T>.asFlow(): Flow<T> {
  val value = this
  return callbackFlow<T> {
    val subscription = value.subscribe(Handler<T> { now -> channel.trySend(now) })
    awaitClose { subscription.close() }
  }.conflate()
}

/**
 * The values of the producers, which start for each collection and run ahead as far as the
 * generator allows. The collector suspends while it waits. A failure of a producer comes after all
 * values made before. Cancelling the flow ends the producers, and suspends until they have ended.
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
