package io.fibry.kotlin.examples

import io.fibry.support.Child
import java.nio.file.Path
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.nameWithoutExtension
import kotlin.io.path.readLines
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ExamplesTest {
  private val sources = Path.of("src/main/kotlin/io/fibry/kotlin/examples").listDirectoryEntries("*.kt")

  /** Runs a program in the smallest size; returns its lines. */
  private fun printed(program: String): List<String> {
    val classPath = System.getProperty("java.class.path")
    val arguments = listOf("-Dsize=10", "-Drounds=1", "-cp", classPath, "io.fibry.kotlin.examples.$program")
    return Child.java(arguments).use { it.awaitExit(0).lines() }
  }

  @Test
  fun eachProgramPrintsRowForEachDispatcher() {
    val lines = printed("All")

    val row = Regex("""(\S.{19}) +\d+ +\d+\.\d\d +\(\d+\.\d\d\.\.\d+\.\d\d\) +(\d+\.\d\d)( {3}\S.*)?""")
    val tables = lines.joinToString("\n").split("\n-> ").dropLast(1)
      .map { table -> table.lines().mapNotNull { row.matchEntire(it) } }
    val programs = sources.map { it.nameWithoutExtension } - setOf("All", "DurableBank", "Row", "Table")
    assertEquals(programs.size, tables.size, lines.joinToString("\n"))
    for (rows in tables) {
      val dispatchers = rows.map { it.groupValues[1].trim() }
      val wanted = listOf("FIBER", "IO", "Default", "Unconfined", "64 threads")
      assertTrue(dispatchers.containsAll(wanted), dispatchers.toString())
      assertEquals("FIBER" to "1.00", dispatchers.first() to rows.first().groupValues[2])
    }
  }

  @Test
  fun durableBankReloadsAccountsWhenStoreReopens() {
    val lines = printed("DurableBank")

    val expected = listOf(
      "Ada has 0, pays in and has 500",
      "she takes 300: true, and 300 again: false",
      "Ada has 200, pays in and has 700",
      "she takes 300: true, and 300 again: true",
    )
    assertEquals(expected, lines)
  }

  @Test
  fun exampleHasAtMost60Lines() {
    for (file in sources) assertTrue(file.readLines().size <= 60, "$file is longer than 60 lines")
  }
}
