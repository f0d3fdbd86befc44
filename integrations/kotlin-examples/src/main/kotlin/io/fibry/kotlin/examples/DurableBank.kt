@file:JvmName("DurableBank")

package io.fibry.kotlin.examples

import io.fibry.ActorSystem
import io.fibry.Request
import io.fibry.kotlin.await
import io.fibry.kotlin.durable
import io.fibry.kotlin.entities
import io.fibry.kotlin.events
import io.fibry.kotlin.handle
import io.fibry.store.folder.FolderStore
import java.nio.file.Path
import kotlin.io.path.createTempDirectory
import kotlin.io.path.deleteRecursively
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking

sealed interface Message
@JvmRecord data class Deposit(val cents: Long) : Message, Request<Deposit, Long>
@JvmRecord data class Withdraw(val cents: Long) : Message, Request<Withdraw, Boolean>
data object Balance : Message, Request<Balance, Long>

@JvmRecord data class Changed(val cents: Long)

val accounts = durable<Message>("account")
  .events(0L) { cents: Long, event: Changed -> cents + event.cents }
  .handle { cents, message ->
    when (message) {
      is Deposit -> reply(message, persist(Changed(message.cents)))
      is Withdraw -> {
        val enough = cents >= message.cents
        if (enough) persist(Changed(-message.cents))
        reply(message, enough) // the reply is sent when the event is on disk
      }
      Balance -> reply(Balance, cents)
    }
  }

private suspend fun day(folder: Path) =
  FolderStore.open(folder).use { store ->
    accounts.entities(ActorSystem.anonymous(), store, idle = 5.minutes).use { bank ->
      val ada = bank.actor("ada")
      println("Ada has ${ada.await(Balance)}, pays in and has ${ada.await(Deposit(500))}")
      println("she takes 300: ${ada.await(Withdraw(300))}, and 300 again: ${ada.await(Withdraw(300))}")
    }
  }

/** Stores accounts in a folder, closes the store, and reads the accounts from the folder again. */
@OptIn(kotlin.io.path.ExperimentalPathApi::class)
fun main() = runBlocking {
  val folder = createTempDirectory("bank")
  repeat(2) { day(folder) } // the program could be restarted between the two days
  folder.deleteRecursively()
}
