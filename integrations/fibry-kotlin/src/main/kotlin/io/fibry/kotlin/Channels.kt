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
 * A collector that sends each value to the actor, one at a time, as [send] does: a mailbox that makes senders wait holds the flow back. The end of the flow does not end the actor. Where the actor refuses a message, it is a
 * dead letter, and the collecting coroutine fails with a [RejectedExecutionException].
 */
public fun <M : Any> Actor<M>.asCollector(): FlowCollector<M> = FlowCollector { message ->
  if (!send(message)) throw refusedBy(this)
}

/**
 * A channel into the actor, without room of its own: `send` suspends until the message before it is in the mailbox. Closing the channel, with or without a cause, sends the actor a poison pill behind what was sent.
 *
 * Where the actor refuses a message, that is a dead letter, and so are those whose senders are suspended then; the channel is closed, and later senders are told why by a [RejectedExecutionException]. A channel that nobody
 * refers to any more is garbage, and ends nothing.
 */
public fun <M : Any> Actor<M>.asSendChannel(): SendChannel<M> {
  val channel = Channel<M>()
  CoroutineScope(Dispatchers.FIBER).launch {
    while (true) {
      val message = channel.receiveCatching().getOrNull() ?: break
      refusal(message)?.let { channel.close(it) }
    }
    sendPoisonPill()
  }
  return channel
}

/** Null: it was taken. */
private fun <M : Any> Actor<M>.refusal(message: M): Throwable? =
  try {
    if (sendMessage(message)) null else refusedBy(this)
  } catch (failure: Throwable) { // of a comparator, say
    failure
  }

private fun refusedBy(actor: Actor<*>) =
  RejectedExecutionException("actor '${actor.name()}' refused a message: it has ended, or its mailbox is full and refuses; a mailbox with Overflow.BLOCK makes the sender wait instead")
