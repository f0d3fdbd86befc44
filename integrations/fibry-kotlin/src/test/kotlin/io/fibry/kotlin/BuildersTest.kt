package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorContext
import io.fibry.ActorScope
import io.fibry.ActorSystem
import io.fibry.ActorWithReturn
import io.fibry.Exitable
import io.fibry.FailurePolicy
import io.fibry.Request
import io.fibry.Strategy
import io.fibry.flow.Batch
import io.fibry.flow.MultiAsk
import io.fibry.flow.Generator
import io.fibry.flow.HookedFunction
import io.fibry.flow.MapReduce
import io.fibry.flow.Pipeline
import io.fibry.flow.RateLimit
import io.fibry.fsm.Fsm
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.pool.Entities
import io.fibry.pool.Pools
import io.fibry.pubsub.ObservableMap
import io.fibry.pubsub.ObservableValue
import io.fibry.pubsub.Topic
import io.fibry.spi.BlockBuilder
import io.fibry.stereotype.Stereotypes
import io.fibry.support.Patience
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Tests that no step of a builder, and no block with a lambda, needs a type argument or cast in
 * Kotlin. It is enough that this file compiles. The parameter of a lambda determines the type of
 * messages.
 */
class BuildersTest {
  private sealed interface Account

  private data class Deposit(val cents: Long) : Account

  private class Balance : Account, Request<Balance, Long>

  private class Bank(private val fee: Long) {
    private var cents = 0L

    constructor() : this(0)

    fun take(message: Account) {
      if (message is Deposit) cents += message.cents - fee
    }

    fun handle(message: Account, context: ActorContext<Account>) = when (message) {
      is Deposit -> take(message)
      is Balance -> context.reply(message, cents)
    }

    fun tell(what: String) = "$what: $cents"

    fun copy() = Bank(fee).also { it.cents = cents }
  }

  private val scope: ActorScope = ActorSystem.openScope("builders")
  private val builder = scope.anonymous()
  private val hour = Duration.ofHours(1) // longer than any test
  private val bounded = Mailbox.bounded(100, Overflow.BLOCK)
  private val seen = ConcurrentLinkedQueue<Any>()

  @AfterEach
  fun close() = scope.close()

  private fun assertAnswers(builder: ActorBuilder<in Int>) =
    assertEquals(2, builder.newActorWithReturn { n: Int -> n + 1 }.ask(1))

  @Test
  fun actorWorksAfterBuilderStepsThatKeepMessageType() {
    assertAnswers(builder.mailbox(bounded))
    assertAnswers(builder.mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.restart()))
    assertAnswers(builder.strategy { activation -> Thread.ofVirtual().start(activation) }.mailbox(bounded))
    assertAnswers(builder.strategy(Strategy.of(ForkJoinPool.commonPool())).inlineRequests())
    assertAnswers(builder.intercept { message: Any, next -> next.run().also { seen += message } })
    assertAnswers(BlockBuilder.of(builder).defaultMailbox(bounded).mailbox(bounded)
      .intercept { _: Any, next -> next.run() })
    assertEquals(listOf<Any>(1), seen.toList())
  }

  @Test
  fun actorWorksAfterBuilderStepsThatNarrowMessageType() {
    assertAnswers(builder.mailbox(Mailbox.priority(naturalOrder<Int>())))
    assertAnswers(builder.mailbox(Mailbox.priority(compareBy { n: Int -> -n })))
    assertAnswers(builder.intercept { n: Int, next -> if (n > 0) next.run() })
    assertAnswers(builder.protocol(Int::class.javaObjectType).mailbox(bounded))
    assertAnswers(builder.protocol<Int>().mailbox(bounded).intercept { _: Int, next -> next.run() })
    val narrow: ActorBuilder<Account> = builder.protocol<Account>().mailbox(bounded).onFailure(FailurePolicy.stop())
    narrow.newActor { message: Account -> seen += message }.use { it.sendMessage(Deposit(1)) }
    assertEquals(listOf<Any>(Deposit(1)), seen.toList())
  }

  private fun <M : Any> withBoundedMailbox(builder: ActorBuilder<M>): ActorBuilder<M> = builder.mailbox(bounded)

  private fun makeAndClose(builder: ActorBuilder<*>) = builder.mailbox(bounded).newSink().close()

  @Test
  fun builderStepsWorkForGenericMessageType() {
    assertAnswers(withBoundedMailbox(builder))
    makeAndClose(builder)
    assertAnswers(listOf(1, 2).fold(builder) { builder, n -> builder.mailbox(Mailbox.bounded(n, Overflow.REJECT)) })
    assertAnswers(if (BlockBuilder.of(builder).isPooled) builder else builder.mailbox(bounded))
  }

  private fun note(line: String) {
    seen += line
  }

  @Test
  fun lambdasAndFunctionReferencesAreHandlers() {
    builder.newActor { line: String -> seen += line }.use { it.sendMessage("a") }
    builder.newActor { line: String, context -> seen += line + context.isCancelled() }.use { it.sendMessage("b") }
    builder.newActor(::note).use { it.sendMessage("c") }
    val expected: Actor<String> = builder.newActor { line -> seen += line }
    expected.use { it.sendMessage("d") }
    assertEquals(listOf<Any>("a", "bfalse", "c", "d"), seen.toList())
    assertEquals(1, builder.newActorWithReturn(String::length).ask("e"))
    assertEquals("f", builder.newActorWithReturn { line: String, _ -> line }.ask("f"))
    val function: (String) -> Int = { it.length }
    assertEquals(1, builder.newActorWithReturn(function).ask("g"))
  }

  @Test
  fun handlersWithStateNeedNoTypeArguments() {
    assertEquals(5L, builder.initialState(::Bank).newActor(Bank::handle).balanceAfter(Deposit(5)))
    builder.initialState { Bank(1) }.rollback(Bank::copy).onStop { bank -> seen += bank.tell("at the end") }
      .newActor(Bank::take).use { it.sendMessage(Deposit(5)) }
    assertEquals(listOf<Any>("at the end: 4"), seen.toList())
    assertEquals("now: 0", builder.initialState(::Bank).newActorWithReturn(Bank::tell).ask("now"))
    val sum = builder.mailbox(bounded).initialState(::LongAdder).newActorWithReturn { sum, n: Int ->
      sum.add(n.toLong())
      sum.sum()
    }
    assertEquals(3L, sum.ask(3))
    assertEquals(1, builder.initialState { ArrayList<String>() }.newActorWithReturn { lines, line: String, _ ->
      lines += line
      lines.size
    }.ask("a"))
    assertEquals(0, builder.initialState { ArrayList<String>() }.newSink().ask { it.size })
  }

  private fun Actor<Account>.balanceAfter(message: Account): Long {
    sendMessage(message)
    return ask(Balance())
  }

  @Test
  fun poolOfEachKindAnswersRequests() {
    assertAnswers(Pools.perMessage(builder))
    assertAnswers(Pools.fixed(builder.mailbox(bounded), 2))
    assertAnswers(Pools.scaling(builder, 1, 2))
    assertAnswers(Pools.weighted(builder, 10) { n: Int -> n })
    assertAnswers(Pools.byKey(builder, 2) { n: Int -> n % 2 })
    assertAnswers(Pools.byKey(builder.protocol<Int>(), 2) { n -> n % 2 })
    assertAnswers(RateLimit.around(Pools.fixed(builder, 2), 10, hour))
    assertEquals(1L, Pools.fixed(builder, 1).initialState(::Bank).newActor(Bank::handle).balanceAfter(Deposit(1)))
  }

  @Test
  fun entityAnswersRequestsOfItsKey() {
    val numbers = Entities.openWithReturn(builder, hour) { births, key: String ->
      births.mailbox(bounded).newActorWithReturn { n: Int -> "$key$n" }
    }
    assertEquals("a1", numbers.actor("a").ask(1))
    val banks: Entities<String, Account> = Entities.open(builder.mailbox(bounded), hour) { births, _ ->
      births.initialState(::Bank).newActor(Bank::handle)
    }
    assertEquals(1L, banks.actor("a").balanceAfter(Deposit(1)))
  }

  @Test
  fun eachKindOfBatchHandlesCollectedMessages() {
    Batch.ofLists(builder, 2, hour) { list: List<Int> -> seen.add(list) }.use { it.sendMessages(listOf(1, 2)) }
    Batch.ofCounts(builder, 2, hour) { counts: Map<Int, Long> -> seen.add(counts) }
      .use { it.sendMessages(listOf(3, 3)) }
    Batch.ofMerged(builder, 2, hour, { n: Int -> n % 2 }, { _, later -> later }) { last -> seen.add(last) }
      .use { it.sendMessages(listOf(4, 6)) }
    assertEquals(listOf(listOf(1, 2), mapOf(3 to 2L), mapOf(0 to 6)), seen.toList())
  }

  /** A block without a lambda gets its type from the expected type, or from a type argument. */
  @Test
  fun eachKindOfSubscriberGetsPublishedMessage() {
    val topic: Topic<Int> = Topic.open(builder.mailbox(bounded))
    topic.subscribeToLatest { n -> seen += n }
    topic.subscribe(bounded) { n -> seen += n }
    topic.subscribe(builder.newActor { n: Any -> seen += n })
    topic.subscribeOn(Runnable::run) { n -> seen += n }
    topic.publish(1)
    val value = ObservableValue.of(builder, 1)
    assertEquals(2, value.update { it + 1 })
    val map: ObservableMap<String, Int> = ObservableMap.of(builder)
    map.subscribe { change -> seen += change.key }.use { map.put("a", 1) }
    assertTrue(scope.awaitQuiescence(Patience.LONG))
    assertEquals(4, seen.count { it == 1 })
  }

  @Test
  fun blocksBuiltWithKotlinLambdasGiveResults() {
    val lengths = CompletableFuture<Int>()
    Pipeline.of(builder) { line: String -> line.length }.then { n -> n + 1 }.then(2) { n -> "$n" }
      .thenUnordered(2, String::toInt).into { n -> lengths.complete(n) }.use { it.sendMessage("abc") }
    assertEquals(4, Patience.value(lengths))
    assertEquals(3, MapReduce.start(builder, 2, listOf("a", "bc"), { it.length }, 0) { a, b -> a + b }.join())
    val hooked = HookedFunction.around(builder, String::length).before { seen += it }.after { _, n -> seen += n }
    assertEquals(2, builder.newActorWithReturn(hooked).ask("ab"))
    val one: ActorWithReturn<Int, Int> = builder.newActorWithReturn { n -> n }
    assertEquals(listOf(1, 1), MultiAsk.askAll(listOf(one, one), 1, Patience.LONG))
    val generated = Generator.of(builder, 1, { out: Generator.Output<Int> -> (1..2).forEach(out::yield) })
    assertEquals(listOf(1, 2), generated.toList())
  }

  private sealed interface Door

  private data object Open : Door

  private data object Shut : Door

  private data object Push

  @Test
  fun stateMachineChangesStateForEachMessage() {
    val door = Fsm.of(Door::class.java, Push::class.java, Shut)
      .on(Shut::class.java, Push::class.java) { _, _ -> Open }
      .on(Open::class.java, Push::class.java) { _, _, context -> Shut.also { seen += context.isCancelled() } }
      .onEnter(Open::class.java) { seen += it }
      .newActor(builder.mailbox(bounded))

    door.use { it.sendMessages(listOf(Push, Push)) }

    assertEquals(listOf(Open, false), seen.toList())
  }

  // ---- the extensions

  @Test
  fun namedActorIsFoundIfProtocolMatches() {
    val named = scope.named("counter").protocol<Int>().newActorWithReturn { n: Int -> n + 1 }
    val other = actor(scope.named("account").protocol<Account>()) { handle { seen += it } }

    assertEquals(named, scope.find<Int>("counter"))
    assertEquals(other, scope.find<Account>("account"))
    assertThrows(IllegalArgumentException::class.java) { scope.find<String>("counter") }
    assertNull(scope.find<Int>("nobody"))
  }

  @Test
  fun generatorGivesElementsAndFailureOfItsProducer() {
    val squares = generator(builder, ahead = 2) { for (n in 1..4) yield(n * n) }
    val first: Int = squares.iterator().use { it.next() }
    val failing = generator(builder.onFailure(FailurePolicy.stop().withoutLog()), ahead = 2) {
      yield("a")
      error("on purpose")
    }

    assertEquals(1, first)
    assertEquals(listOf(1, 4, 9, 16), squares.toList())
    assertEquals("on purpose", runCatching { failing.toList() }.exceptionOrNull()?.message)
  }

  private fun Exitable.endAndReturnTrue(): Boolean {
    askExit()
    return true
  }

  @Test
  fun scheduledTaskRepeatsUntilItEndsItsActor() {
    val tasks = Stereotypes.of(builder)

    tasks.scheduleAtFixedRate(0.seconds, 1.milliseconds) { seen.add(1) && seen.size < 3 || it.endAndReturnTrue() }
      .waitForExit()
    tasks.scheduleWithFixedDelay(0.seconds, 1.milliseconds) { seen.add(2) && seen.size < 6 || it.endAndReturnTrue() }
      .waitForExit()
    tasks.runOnce { -> seen += 3 }.waitForExit()

    assertEquals(listOf<Any>(1, 1, 1, 2, 2, 2, 3), seen.toList())
  }
}
