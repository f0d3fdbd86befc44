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
 * Returns a collector that sends each value to the actor with [send], so the flow waits while a
 * mailbox with `Overflow.BLOCK` is full. The end of the flow does not end the actor. A refused
 * message is a dead letter, and fails the collecting coroutine with a [RejectedExecutionException].
 */
public fun <M : Any> Actor<M>.asCollector(): FlowCollector<M> = FlowCollector { message ->
  if (!send(message)) throw rejectionBy(this)
}

/**
 * Returns a channel to the actor, without a buffer: `send` suspends until the previous message is
 * in the mailbox. Closing the channel sends the actor a poison pill after the messages.
 *
 * If the actor refuses a message, the channel closes. The refused message and the messages of the
 * senders that are suspended at this moment become dead letters. Later senders get the reason: a
 * [RejectedExecutionException], or the exception of the refused send. A channel that becomes
 * unreachable does not end the actor.
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

/** Sends a message. Returns the reason if it was refused, otherwise null. */
private fun <M : Any> Actor<M>.rejection(message: M): Throwable? =
  try {
    if (sendMessage(message)) null else rejectionBy(this)
  } catch (failure: Throwable) { // for example, thrown by the comparator of a priority mailbox
    failure
  }

private fun rejectionBy(actor: Actor<*>) = RejectedExecutionException(
  "actor '${actor.name()}' refused a message: it has ended, or its mailbox is full; " +
    "a mailbox with Overflow.BLOCK makes the sender wait instead"
)
