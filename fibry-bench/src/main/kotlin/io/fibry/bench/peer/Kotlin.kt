package io.fibry.bench.peer

import java.time.Duration
import java.util.function.Consumer
import java.util.function.Function
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/**
 * Kotlin's coroutines: a channel, and a coroutine on `Dispatchers.Default` that receives from it,
 * which replaces the obsolete `actor` builder. `trySend` never fails on an unlimited channel.
 * Senders and askers that may have to wait are coroutines, too, as in Kotlin programs. A platform
 * thread that asks runs the coroutine itself (`runBlocking`).
 */
class Kotlin : Peer.Requests, Peer.BoundedMailboxes, Peer.Timers {
  private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)

  private open class UnboundedReceiver<M : Any>(val channel: Channel<M>, private val job: Job) : Receiver<M> {
    override fun send(message: M) {
      channel.trySend(message)
    }

    override fun end() = job.cancel()
  }

  private class BoundedReceiver<M : Any>(channel: Channel<M>, job: Job) : UnboundedReceiver<M>(channel, job) {
    override fun send(message: M) = sendAll(message, 1)

    override fun sendAll(message: M, times: Int) =
      runBlocking(Dispatchers.Default) { repeat(times) { channel.send(message) } }
  }

  private class Request<M : Any, R : Any>(val message: M) {
    val answer = CompletableDeferred<R>()
  }

  private inner class ChannelAnswerer<M : Any, R : Any>(val channel: Channel<Request<M, R>>) : Answerer<M, R> {
    override fun ask(message: M): R = askAll(message, 1)

    override fun askAll(message: M, times: Int): R =
      if (Thread.currentThread().isVirtual) runBlocking(Dispatchers.Default) { askInTurn(message, times) }
      else runBlocking { askInTurn(message, times) }

    private suspend fun askInTurn(message: M, times: Int): R {
      repeat(times - 1) { askOnce(message) }
      return askOnce(message)
    }

    private suspend fun askOnce(message: M): R {
      val request = Request<M, R>(message)
      channel.send(request)
      return request.answer.await()
    }
  }

  private fun <M : Any> receiving(channel: Channel<M>, handler: Consumer<M>) =
    scope.launch { for (message in channel) handler.accept(message) }

  override fun <M : Any> actor(handler: Consumer<M>): Receiver<M> {
    val channel = Channel<M>(Channel.UNLIMITED)
    return UnboundedReceiver(channel, receiving(channel, handler))
  }

  override fun <M : Any> bounded(capacity: Int, handler: Consumer<M>): Receiver<M> {
    val channel = Channel<M>(capacity)
    return BoundedReceiver(channel, receiving(channel, handler))
  }

  override fun <M : Any, R : Any> answering(handler: Function<M, R>): Answerer<M, R> {
    val channel = Channel<Request<M, R>>(Channel.UNLIMITED)
    receiving(channel) { it.answer.complete(handler.apply(it.message)) }
    return ChannelAnswerer(channel)
  }

  override fun <M : Any> later(receiver: Receiver<M>, message: M, delay: Duration): Runnable {
    val job = scope.launch {
      delay(delay.toMillis())
      receiver.send(message)
    }
    return Runnable { job.cancel() }
  }

  override fun awaitEnd() = runBlocking { scope.coroutineContext.job.children.forEach { it.join() } }

  override fun close() = scope.cancel()
}
