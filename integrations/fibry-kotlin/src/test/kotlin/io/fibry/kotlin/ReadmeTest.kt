package io.fibry.kotlin

import io.fibry.ActorSystem
import io.fibry.FailurePolicy
import io.fibry.Request
import io.fibry.Strategy
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.pubsub.Topic
import io.fibry.stereotype.Stereotypes
import io.fibry.store.folder.FolderStore
import io.fibry.support.Patience
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import kotlin.io.path.readText
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

// @start
sealed interface Account
data class Deposit(val cents: Long) : Account
data class Withdraw(val cents: Long) : Account, Request<Withdraw, Boolean>
class Balance : Account, Request<Balance, Long>

fun account() = actor<Account> {
  var cents = 0L                                   // only the actor touches it; fresh after a restart
  handle { message ->
    when (message) {                               // the compiler checks that all are handled
      is Deposit -> cents += message.cents
      is Withdraw -> {
        val enough = cents >= message.cents
        if (enough) cents -= message.cents
        reply(message, enough)                     // reply(message, "yes") does not compile
      }
      is Balance -> reply(message, cents)
    }
  }
}

suspend fun spend(): Long {
  val account = account()
  account.sendMessage(Deposit(500))                // does not wait
  val paid = account.await(Withdraw(200))          // suspends until it is answered
  return if (paid) account.await(Balance(), 1.minutes) else 0
}
// @end

/** Runs the code blocks of the README, which are the regions of this file. */
class ReadmeTest {
  private val calls = CountDownLatch(1_000)

  @Test
  fun firstReadmeBlockReturnsBalance() = coroutineTest {
    assertEquals(300, spend())
  }

  @Test
  fun onStopOfReadmeActorSeesLinesThatItHandled() = coroutineTest {
    val seen = ArrayList<String>()
    // @start
    val builder = ActorSystem.named("audit").mailbox(Mailbox.bounded(1_000, Overflow.BLOCK))
      .onFailure(FailurePolicy.restart())
    val audit = actor<String>(builder) {
      val lines = ArrayList<String>()
      onStop { seen += lines }                     // when the actor ends, and before a restart
      handle { line -> lines += line }
    }
    audit.send("opened")                           // suspends while the mailbox is full
    // @end
    audit.sendPoisonPill()
    audit.awaitExit()

    assertEquals(listOf("opened"), seen)
  }

  private class Bank {
    fun take(cents: Long) = cents
  }

  @Test
  fun actorsOfReadmeBuildersHandleTheirMessages() = coroutineTest {
    val scope = ActorSystem.openScope("readme")
    val seen = ConcurrentLinkedQueue<Any>()
    // @start
    scope.named("lines").mailbox(Mailbox.bounded(100, Overflow.BLOCK))      // no type argument
      .newActor { line: String -> seen += line }                            // the type of the parameter is enough
    scope.named("bank").initialState(::Bank).newActorWithReturn(Bank::take) // a function's parameter has a type, too
    scope.named("numbers").protocol<Int>().newActor { n: Int -> seen += n }
    val numbers = scope.find<Int>("numbers")                                // or null

    val squares = generator(ahead = 16) { for (n in 1..3) yield(n * n) }    // runs ahead of its reader
    Stereotypes.of(scope.anonymous()).scheduleAtFixedRate(0.seconds, 1.seconds) { seen += "tick" }
    Stereotypes.of(scope.anonymous()).runOnce { -> seen += "once" }         // the arrow chooses the overload
    // @end
    numbers?.sendMessage(7)
    eventually { seen.containsAll(listOf(7, "tick", "once")) }
    withContext(Dispatchers.FIBER) { scope.close() }

    assertEquals(listOf(1, 4, 9), squares.toList())
  }

  /** Returns after a thousand calls have arrived. */
  private fun fetch(page: Int): Int {
    calls.countDown()
    Patience.await(calls)
    return page
  }

  @Test
  fun dispatchersOfReadmeRunCoroutines() = coroutineTest {
    // @start
    val sizes = withContext(Dispatchers.FIBER) {
      (1..1_000).map { page -> async { fetch(page) } }.awaitAll()   // a thousand blocking calls at once
    }
    val gentle = Dispatchers.FIBER.limitedParallelism(20)           // twenty at a time
    val same = Strategy.THREAD.asCoroutineDispatcher().use { one -> // one platform thread until closed
      withContext(one) { Thread.currentThread() } === withContext(one) { Thread.currentThread() }
    }
    // @end
    val one = withContext(gentle) { fetch(1) }

    assertEquals(500_500, sizes.sum())
    assertEquals(listOf(1, true), listOf(one, same))
  }

  @Test
  fun flowAndChannelOfReadmeFeedActor() = coroutineTest {
    val seen = ArrayList<Int>()
    // @start
    val builder = ActorSystem.anonymous().mailbox(Mailbox.bounded(10, Overflow.BLOCK))
    val numbers = actor<Int>(builder) { handle { n -> seen += n } }
    (1..100).asFlow().map { it * it }.collect(numbers.asCollector()) // a full mailbox slows the flow
    val channel = numbers.asSendChannel()
    channel.send(0)
    channel.close()                                                  // drains the actor and ends it
    numbers.awaitExit()
    // @end

    assertEquals((1..100).map { it * it } + 0, seen)
  }

  @Test
  fun flowsOfReadmeTopicReceivePublishedMessages() = coroutineTest {
    val seen = ArrayList<Int>()
    // @start
    val prices = Topic.open<Int>(ActorSystem.anonymous())
    val all = launch { // if it is slow, the publisher waits
      prices.asFlow(Mailbox.bounded(100, Overflow.BLOCK)).collect { seen += it }
    }
    val some = launch { // if it is slow, it sees the latest
      prices.asFlow(Mailbox.bounded(1, Overflow.DROP_OLDEST)).take(1).collect { }
    }
    // @end
    while (some.isActive || seen.isEmpty()) withContext(Dispatchers.FIBER) { prices.publish(7) }
    launch(Dispatchers.FIBER) { prices.close() }
    all.join()

    assertEquals(setOf(7), seen.toSet())
  }

  @Test
  fun coroutinesOfReadmeRunInTurnWithActor() = coroutineTest {
    // @start
    var visits = 0 // needs no lock: only code in turn with the actor touches it
    val counter = actor<Int> { handle { n -> visits += n } }
    coroutineScope {
      repeat(100) { launch(counter.inTurn()) { visits++ } }
    }
    // @end
    counter.close()

    assertEquals(100, visits)
  }

  @Test
  fun durableActorOfReadmeContinuesInNextRun(@TempDir folder: Path) = coroutineTest {
    assertEquals(listOf(1, 2), listOf(shop(folder), shop(folder)))
  }

  @Test
  fun readmeCodeEqualsMarkedRegionsOfThisTest() {
    val shown = Regex("(?ms)^```kotlin\n(.*?)^```$").findAll(Path.of("README.md").readText())
      .map { it.groupValues[1].trimEnd() }.toList()
    val source = Files.readString(Path.of("src/test/kotlin/io/fibry/kotlin/ReadmeTest.kt"))
    val run = Regex("(?ms)^ *// @start\n(.*?)^ *// @end$").findAll(source)
      .map { it.groupValues[1].trimIndent().trimEnd() }.toList()

    assertEquals(run, shown)
  }
}

// @start
sealed interface CartMessage
@JvmRecord data class Add(val item: String) : CartMessage  // a record, so it has a form in bytes
data object Items : CartMessage, Request<Items, Int>       // an object has one, too

sealed interface CartEvent
@JvmRecord data class Added(val item: String) : CartEvent
data object Emptied : CartEvent

@JvmRecord data class Cart(val items: List<String>)

val carts = durable<CartMessage>("cart").storeMessages(1_000)
  .events(Cart(emptyList())) { cart: Cart, event: CartEvent ->
    when (event) {
      is Added -> Cart(cart.items + event.item)
      Emptied -> Cart(emptyList())
    }
  }
  .handle { cart, message ->                               // as in actor { handle { .. } }, with the state
    when (message) {
      is Add -> persist(Added(message.item))
      Items -> reply(Items, cart.items.size)               // leaves when all before it is on disk
    }
  }

suspend fun shop(folder: Path): Int =
  FolderStore.open(folder).use { store ->
    carts.entities(ActorSystem.anonymous(), store, idle = 5.minutes).use { carts ->
      carts.actor("ada").send(Add("a cup"))                // returns true once the message is stored
      carts.actor("ada").await(Items)
    }
  }
// @end
