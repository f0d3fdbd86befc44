// Kotlin's program in docs/coming-from.md.
package io.fibry.bench.others

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout

sealed interface Message
data class Visit(val page: String) : Message
data class Count(val page: String, val answer: CompletableDeferred<Int>) : Message

fun main() = runBlocking<Unit> {
  val visits = Channel<Message>(Channel.UNLIMITED)
  launch(Dispatchers.Default) {
    val seen = HashMap<String, Int>()
    for (message in visits) when (message) {
      is Visit -> seen[message.page] = (seen[message.page] ?: 0) + 1
      is Count -> message.answer.complete(seen[message.page] ?: 0)
    }
  }
  visits.send(Visit("home"))
  val count = CompletableDeferred<Int>()
  visits.send(Count("home", count))
  println(withTimeout(60_000) { count.await() }) // prints 1
  visits.close()
}
