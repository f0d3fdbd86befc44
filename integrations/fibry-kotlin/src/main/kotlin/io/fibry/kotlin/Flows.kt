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
 * What is published while the flow is collected. Each collector is a subscriber of its own, with a mailbox that says what a slow one costs: the publisher's time (`BLOCK`), or messages, which are dead letters then. Beside
 * what the mailbox holds, some are under way: one where the mailbox drops, or the collector would see old ones; else up to 64, since handing over one by one is slow.
 *
 * The flow ends when the topic has ended, after what was published before; cancelled, it leaves the topic. Collecting a topic that has ended is an [IllegalStateException].
 *
 * @param mailbox how messages wait for the collector; the latest 1,024, unless told
 */
public fun <T : Any> Topic<T>.asFlow(mailbox: Mailbox<in T> = Mailbox.bounded(1_024, Overflow.DROP_OLDEST)): Flow<T> {
  val topic = this
  return callbackFlow<T> {
    val reader = ActorSystem.anonymous().strategy(Strategy.FIBER).mailbox<T>(mailbox).newActor(Handler<T> { message -> channel.trySendBlocking(message) })
    reader.closeOnExit(AutoCloseable { channel.close() })
    try {
      topic.stopAtExit(reader)
      val place = topic.subscribe(reader)
      awaitClose { place.close() }
    } finally {
      reader.askExit()
    }
  }.buffer(if (mailbox.drops()) Channel.RENDEZVOUS else 64)
}

/** The reader gets its pill when the topic has ended. Who watches ends with the reader; on the caller's thread, so it watches when this returns. */
private fun Topic<*>.stopAtExit(reader: Actor<*>) {
  val watcher = ActorSystem.anonymous().strategy(Strategy.CALLER).mailbox<Any>(Mailbox.unbounded()).newActor(Handler.InContext<Any> { message, context ->
    if (message is ExitReason) reader.sendPoisonPill() else context.watch(this) { reason -> reason }
  })
  reader.closeOnExit(AutoCloseable { watcher.askExit() })
  watcher.sendMessage(this)
}

/** The present value, then each change; a slow collector gets the latest only. It has no end of its own; cancelled, it leaves. What follows is an actor as the builder of the value says, and never waits for the collector. */
public fun <T : Any> SharedValue<T>.asFlow(): Flow<T> {
  val value = this
  return callbackFlow<T> {
    val place = value.subscribe(Handler<T> { now -> channel.trySend(now) })
    awaitClose { place.close() }
  }.conflate()
}

/**
 * What the producers make, started anew for each collector, who suspends where a loop over the generator would block. They run as far ahead as the generator says. Their failure is the flow's, behind all that was made
 * before; cancelled, it ends them and suspends until they have ended.
 */
public fun <T : Any> Generator<T>.asFlow(): Flow<T> {
  val generator = this
  return flow<T> {
    val reading = generator.iterator()
    try {
      while (onFiber { reading.hasNext() }) emit(reading.next())
    } finally {
      withContext(NonCancellable) { onFiber { reading.close() } }
    }
  }
}
