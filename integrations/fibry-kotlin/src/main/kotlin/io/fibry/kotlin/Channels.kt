package io.fibry.kotlin

import io.fibry.Actor
import java.util.concurrent.RejectedExecutionException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.flow.FlowCollector
import kotlinx.coroutines.launch

/**
 * A collector that sends each value to the actor with [send], so a full mailbox with `BLOCK` holds
 * the flow back. It does not end the actor. A refused message is a dead letter, and fails the
 * collecting coroutine with a [RejectedExecutionException].
 */
public fun <M : Any> Actor<M>.asCollector(): FlowCollector<M> = FlowCollector { message ->
  if (!send(message)) throw rejectionBy(this)
}

/**
 * A channel to the actor, without a buffer: `send` suspends until the message before it is in the
 * mailbox. Closing the channel sends the actor a poison pill behind the messages.
 *
 * A refused message closes the channel. It becomes a dead letter, as do the messages of senders
 * that are suspended then; later senders get a [RejectedExecutionException]. An unreachable channel
 * does not end the actor.
 */
public fun <M : Any> Actor<M>.asSendChannel(): SendChannel<M> {
  val channel = Channel<M>()
  CoroutineScope(Dispatchers.FIBER).launch {
    while (true) {
      val message = channel.receiveCatching().getOrNull() ?: break
      rejection(message)?.let { channel.close(it) }
    }
    sendPoisonPill()
  }
  return channel
}

/** Sends a message; returns why it was refused, or null. */
private fun <M : Any> Actor<M>.rejection(message: M): Throwable? =
  try {
    if (sendMessage(message)) null else rejectionBy(this)
  } catch (failure: Throwable) { // of a priority mailbox's comparator, for example
    failure
  }

private fun rejectionBy(actor: Actor<*>) = RejectedExecutionException(
  "actor '${actor.name()}' refused a message: it has ended, or its mailbox is full; " +
    "a mailbox with Overflow.BLOCK makes the sender wait instead"
)
