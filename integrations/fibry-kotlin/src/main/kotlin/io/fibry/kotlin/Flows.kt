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
 * Returns a flow of the messages that are published during the collection. Each collector has its
 * own mailbox. If a collector is slow, a mailbox with `Overflow.BLOCK` makes publishers wait; other
 * full mailboxes drop messages, which become dead letters. The flow itself holds one more message.
 * If the mailbox drops none, it holds 64, because passing messages one by one is slow.
 *
 * If the topic ends, the flow completes after the last message. Cancelling the flow ends the
 * subscription. If the topic has already ended, the collection fails with an
 * [IllegalStateException].
 *
 * @param mailbox the mailbox of each collector; by default it has the latest 1,024 messages
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
 * Sends the reader a poison pill when the topic ends. The watcher is an actor that ends with the
 * reader. It runs on the caller's thread, so it watches the topic before this function returns.
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
 * Returns a flow of the current value and its changes; a slow collector gets only the latest value.
 * The flow never completes. Cancelling it ends the subscription. The subscriber is an actor made by
 * the builder that made the value, and never waits for the collector.
 */
public fun <T : Any> ObservableValue<T>.asFlow(): Flow<T> {
  val value = this
  return callbackFlow<T> {
    val subscription = value.subscribe(Handler<T> { now -> channel.trySend(now) })
    awaitClose { subscription.close() }
  }.conflate()
}

/**
 * Returns a flow of the values of the producers. They start for each collection, and run ahead of
 * the collector as far as the generator allows. The collector suspends while it waits for a value.
 * If a producer fails, the collector gets all earlier values, then the failure. Cancelling the flow
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
