"""LangGraph's name for two modules that older programs import; nothing else belongs here."""
