package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorSystem
import io.fibry.Request
import io.fibry.codec.CodecException
import io.fibry.durable.Durable
import io.fibry.durable.Idempotent
import io.fibry.durable.StorageFailedException
import io.fibry.store.MemoryStore
import io.fibry.store.Store
import io.fibry.store.folder.FolderStore
import io.fibry.store.spi.StoreBackend
import java.nio.file.Path
import java.time.Instant
import java.time.InstantSource
import java.util.Optional
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class DurablesTest {
  sealed interface Message

  @JvmRecord
  data class Deposit(val cents: Long) : Message

  @JvmRecord
  data class Withdraw(val cents: Long) : Message, Request<Withdraw, Boolean>

  /** The handler waits at the gate, and then adds the cents. */
  @JvmRecord
  data class Hold(val cents: Long) : Message, Request<Hold, Long>

  data object Balance : Message, Request<Balance, Long>

  data object Break : Message, Request<Break, Long>

  sealed interface Event

  @JvmRecord
  data class Changed(val cents: Long) : Event

  data object Emptied : Event

  @TempDir
  private lateinit var folder: Path

  private val scope = ActorSystem.openScope("kotlin's")
  private val gate = Gate()
  private val mine = IllegalStateException("mine")

  @AfterEach
  fun close() {
    gate.open()
    scope.close()
  }

  /** Opens the gate after the block, even if the block fails. Otherwise no actor could close. */
  private inline fun openingGate(block: () -> Unit) =
    try {
      block()
    } finally {
      gate.open()
    }

  private fun Durable.Builder<Message>.account() =
    events(0L) { cents: Long, event: Event ->
      when (event) {
        is Changed -> cents + event.cents
        Emptied -> 0
      }
    }.handle { cents, message ->
      when (message) {
        is Deposit -> persist(Changed(message.cents))
        is Withdraw -> {
          val enough = cents >= message.cents
          if (enough) persist(if (cents == message.cents) Emptied else Changed(-message.cents))
          reply(message, enough)
        }
        is Hold -> {
          gate.pass()
          reply(message, persist(Changed(message.cents)))
        }
        Balance -> reply(Balance, cents)
        Break -> throw mine
      }
    }

  private fun open(store: String): Store = if (store == "folder") FolderStore.open(folder) else MemoryStore.open()

  /** Opens the store again, as the next run of the program does. */
  private fun reopen(store: Store): Store = if (store is MemoryStore) store.crash() else FolderStore.open(folder)

  private fun Durable<Message>.ada(store: Store): Actor<Message> = newActor(scope.named("ada"), store)

  private suspend fun outcome(call: suspend () -> Any) =
    try {
      call()
    } catch (failure: Throwable) {
      failure
    }

  @ParameterizedTest
  @ValueSource(strings = ["folder", "memory"])
  fun accountIsReloadedFromReopenedStore(where: String) = coroutineTest {
    val account = durable<Message>("account").account()
    val store = open(where)
    store.use {
      account.ada(store).use { ada ->
        ada.send(Deposit(500))
        assertTrue(ada.await(Withdraw(200)))
        assertEquals(300, ada.await(Balance, LONG))
      }
    }

    reopen(store).use { again ->
      account.entities(scope.anonymous(), again, 5.minutes).use { accounts ->
        assertTrue(accounts.actor("ada").await(Withdraw(300)))
        assertEquals(0, accounts.actor("ada").await(Balance))
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = ["folder", "memory"])
  fun viewReceivesEventsInOrder(where: String) = coroutineTest {
    val seen = ConcurrentLinkedQueue<Event>()
    open(where).use { store ->
      durable<Message>("account").account().ada(store).use { ada ->
        eventView<Event>("account").named("all").newActor(scope.anonymous(), store) { fact -> seen += fact.event }.use {
          ada.await(Withdraw(-5))
          ada.await(Withdraw(5))
          eventually { seen.size == 2 }
        }
      }
    }

    assertEquals(listOf(Changed(5), Emptied), seen.toList())
  }

  @ParameterizedTest
  @ValueSource(strings = ["folder", "memory"])
  fun cancelledPendingRequestIsNotHandled(where: String) = coroutineTest {
    open(where).use { store ->
      durable<Message>("account").account().ada(store).use { ada ->
        openingGate {
          val first = launch { ada.await(Hold(1)) }
          eventually { gate.isEntered }
          val second = launch { ada.await(Withdraw(-10)) }
          eventually { scope.report().queued() == 1L }

          second.cancelAndJoin()
          gate.open()
          first.join()

          assertTrue(second.isCancelled)
          assertEquals(1, ada.await(Balance))
        }
      }
    }
  }

  /** If the kind stores messages, a request is handled although its asker was cancelled. */
  @ParameterizedTest
  @ValueSource(strings = ["folder", "memory"])
  fun cancelledStoredRequestIsHandled(where: String) = coroutineTest {
    open(where).use { store ->
      durable<Message>("account").storeMessages(10).account().ada(store).use { ada ->
        openingGate {
          val first = launch { ada.await(Hold(1)) }
          eventually { gate.isEntered }
          val second = launch { ada.await(Withdraw(-10)) }
          val id = Store.ActorId("account", "ada")
          eventually { StoreBackend.of(store).pending(id, Instant.MAX, 9).size == 2 }

          second.cancelAndJoin()
          gate.open()
          first.join()

          assertTrue(second.isCancelled)
          eventually { StoreBackend.of(store).pending(id, Instant.MAX, 9).isEmpty() }
          assertEquals(11, ada.await(Balance))
        }
      }
    }
  }

  @Test
  fun stateIsStoredAlthoughRequestIsCancelledDuringHandling() = coroutineTest {
    MemoryStore.open().use { store ->
      val ada = durable<Message>("account").account().ada(store)
      val asking = launch(Dispatchers.FIBER) { ada.await(Hold(1)) }
      eventually { gate.isEntered }

      asking.cancelAndJoin()
      gate.open()
      ada.close()

      assertTrue(asking.isCancelled)
      assertEquals(1, durable<Message>("account").account().ada(store).await(Balance))
    }
  }

  @Test
  fun handlerExceptionAndStoreFailureReachAsker() = coroutineTest {
    MemoryStore.open().use { store ->
      durable<Message>("account").account().ada(store).use { ada ->
        assertSame(mine, outcome { ada.await(Break) })
        store.failNext(1)
        assertInstanceOf(StorageFailedException::class.java, outcome { ada.await(Withdraw(-5)) })
        assertEquals(0L, ada.await(Balance))
      }
    }
  }

  // ---- states, steps and time

  sealed interface Order

  data object New : Order

  @JvmRecord
  data class Paid(val receipt: String, val items: List<String>, val gift: Optional<String>) : Order

  sealed interface Work

  @JvmRecord
  data class Pay(val id: String) : Work, Idempotent, Request<Pay, String> {
    override fun idempotencyKey() = id
  }

  data object Wake : Work, Request<Wake, Order>

  @Test
  fun kotlinObjectMayBeInitialState() = coroutineTest {
    val now = Instant.parse("2026-01-02T03:04:05Z")
    val charged = ConcurrentLinkedQueue<String>()
    val order = durable<Work>("order").deduplicate(10, 1.days).state<Order>(New).handle { order, work ->
      when (work) {
        is Pay -> {
          val receipt = step("charge") { "receipt ${charged.size}".also { charged += idempotencyKey("charge") } }
          sleep("grace", 0.seconds)
          setReminder("late", Wake, 7.days)
          setRepeatingReminder("check", Wake, 1.days)
          reply(work, receipt)
          Paid(receipt, listOf("cup"), Optional.empty())
        }
        Wake -> order.also { reply(Wake, it) }
      }
    }
    var store = MemoryStore.open(InstantSource { now })
    val first = order.newActor(scope.named("o1"), store)
    assertSame(New, first.await(Wake))
    assertEquals("receipt 0", first.await(Pay("p1")))
    assertEquals("receipt 0", first.await(Pay("p1")))
    first.close()

    store = store.crash()
    order.newActor(scope.named("o1"), store).use { again ->
      assertEquals(Paid("receipt 0", listOf("cup"), Optional.empty()), again.await(Wake))
    }
    val backend = StoreBackend.of(store)
    val id = Store.ActorId("order", "o1")
    assertEquals(Optional.of(now.plusSeconds(86_400)), backend.dueTime(id, "r:check"))
    assertEquals(Optional.of(now.plusSeconds(7 * 86_400)), backend.dueTime(id, "r:late"))
    assertEquals(1, charged.size)
  }

  // ---- codecs

  data class Plain(val cents: Long)

  sealed interface Half

  data class Other(val cents: Long) : Half

  @JvmRecord
  data class Full(
    val name: String,
    val count: Int,
    val events: List<Event>,
    val names: Map<String, Set<Int>>,
    val note: String?,
  )

  private fun refused(make: () -> Any): String = assertThrows(IllegalArgumentException::class.java) { make() }.message!!

  @Test
  fun dataClassThatIsNoRecordIsRefusedWithAdvice() {
    val texts = listOf(
      refused { codecOf<Plain>() },
      refused { codecOf<Half>() },
      refused { durable<Message>("x").state(Plain(1)) },
      refused { durable<Plain>("x").storeMessages(1).state(0L).handler { n, _ -> n } },
    )

    for (text in texts) assertTrue(text.contains("write @JvmRecord in front of 'data class'"), text)
  }

  @Test
  fun kotlinRecordIsDecodedAndNullFieldIsRefused() {
    val codec = codecOf<Full>()
    val full = Full("a", 1, listOf(Changed(1), Emptied), mapOf("b" to setOf(1, 2)), "c")

    assertEquals(full, codec.decode(codec.encode(full)))
    assertSame(Emptied, codec.decode(codec.encode(full)).events[1])
    assertEquals(7, codecOf<Int>().decode(codecOf<Int>().encode(7)))
    assertTrue(codec.schema().contains("Event = 'Changed' Changed | 'Emptied' Emptied\n"), codec.schema())
    val missing = assertThrows(CodecException::class.java) { codec.encode(full.copy(note = null)) }
    assertEquals("Full.Full.note: it is null; an Optional can be empty", missing.message)
  }

  @Test
  fun oldFormOfEventIsDecodedAsCurrentEvent() {
    val today = codecOf<Event> { it.readOld("Earned", Earned::class.java) { old -> Changed(100 * old.euros) } }

    assertEquals(Changed(500), today.decode(codecOf<Earned>().encode(Earned(5))))
  }

  @JvmRecord
  data class Earned(val euros: Long)

  @Test
  fun suspendedAwaitHoldsNoThreadOfItsDispatcher() = coroutineTest {
    MemoryStore.open().use { store ->
      durable<Message>("account").account().entities(scope.anonymous(), store, 5.minutes).use { accounts ->
        openingGate {
          val one = Dispatchers.Default.limitedParallelism(1)
          val asking = List(50) { n -> launch(one) { accounts.actor("k$n").await(Hold(n.toLong())) } }
          eventually { gate.isEntered }
          assertEquals("free", withContext(one) { "free" })
          gate.open()
          asking.forEach { it.join() }

          assertEquals(49, accounts.actor("k49").await(Balance))
        }
      }
    }
  }
}
