@file:JvmName("All")

package io.fibry.kotlin.examples

import java.lang.management.ManagementFactory
import java.nio.file.Path
import kotlin.time.measureTime

/**
 * Runs all benchmark programs, in about a minute. Each program has its own JVM, because idle
 * threads of `Dispatchers.IO` would slow the next program.
 */
fun main() {
  val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
  val options = ManagementFactory.getRuntimeMXBean().inputArguments
  val command = listOf(java) + options + listOf("-cp", System.getProperty("java.class.path"))
  val took = measureTime {
    for (program in listOf("Blocking", "Delays", "ShortDelays")) {
      val process = ProcessBuilder(command + "io.fibry.kotlin.examples.$program").inheritIO().start()
      check(process.waitFor() == 0) { "$program ended with ${process.exitValue()}" }
    }
  }
  println(
    "\nThat took ${took.inWholeSeconds} seconds. " +
      "One run is a first impression: other load on the machine changes the results."
  )
  if (!full) println(
    "The published sizes take more than half an hour on two processors: " +
      "mvn -q -Pkotlin -Dfull=true -Dvm.args=-Xmx8g; one program: mvn -q -Pkotlin -Dexample=Blocking"
  )
}
