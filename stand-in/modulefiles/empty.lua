whatis("Description: stand-in for a module of the system, of which only the name counts here")
